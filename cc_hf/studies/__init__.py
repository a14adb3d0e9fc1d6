"""The studies of the papers, computed from results that metrics made."""
