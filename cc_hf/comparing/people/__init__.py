"""How often results agree with human annotators (Vamvas & Sennrich 2021)."""
