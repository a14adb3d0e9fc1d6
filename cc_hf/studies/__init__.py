"""The studies of the papers, over results that metrics made."""
