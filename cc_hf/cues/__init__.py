"""Disambiguation cues and where they go. By position, never by replacing text."""
