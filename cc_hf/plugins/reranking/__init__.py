"""Choosing translations by verdicts: from n-best lists, and one for each gender."""
