"""Models that score translations.

Importing this package does not import torch; `loading` and the families do.
"""
