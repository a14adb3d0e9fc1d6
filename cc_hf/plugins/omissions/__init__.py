"""Errors that need no reference: what is left out or added, and what is changed."""
