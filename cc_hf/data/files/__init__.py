"""Readers of files that users give."""
