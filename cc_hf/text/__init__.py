"""Tokens and word forms; pure functions of strings."""
