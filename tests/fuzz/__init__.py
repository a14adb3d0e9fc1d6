"""Drawn input through every door: a result or a CCError, never another exception."""
