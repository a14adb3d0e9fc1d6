"""Disambiguation cues and their positions. Cues are inserted by position, not by text search."""
