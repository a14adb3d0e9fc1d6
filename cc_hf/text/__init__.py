"""Tokens and word forms, by pure functions of strings."""
