"""Words read by the analysers of Apertium, programs that Debian and others package."""
