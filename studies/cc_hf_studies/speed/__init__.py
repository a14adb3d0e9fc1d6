"""Speed against gender accuracy (Renduchintala et al. 2021)."""
