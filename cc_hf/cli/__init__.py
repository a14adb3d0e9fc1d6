"""The command line: the only part of cc_hf that prints and exits."""
