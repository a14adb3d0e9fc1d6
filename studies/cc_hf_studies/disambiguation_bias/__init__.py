"""Disambiguation bias and word-sense errors (Emelin et al. 2020; Emelin's thesis, section 3.2)."""
