"""Verdicts on streams of rows, scores that several machines computed, and Ray."""
