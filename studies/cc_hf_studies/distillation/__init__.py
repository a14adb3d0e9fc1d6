"""Distilled models and disambiguation (Vamvas & Sennrich 2021, section 5)."""
