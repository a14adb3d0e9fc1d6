"""Disambiguation cues and their positions. Cues are inserted by position, never by searching
text.
"""
