"""One name of each kind that a package can add to cc_hf, found by entry points."""
