"""Raters, quality gaps of single sentences and counts of MT-GenEval (Currey et al. 2022)."""
