"""The gender that the translation of a person shows, read in its words."""
