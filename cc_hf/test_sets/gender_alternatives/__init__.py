"""Gender alternatives: their reader."""
