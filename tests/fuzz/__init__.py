"""Random input at every entry point gives a result or a CCError, never another exception."""
