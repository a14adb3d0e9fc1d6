"""Language models that are asked in words: to choose, and to translate (Emelin 2023, 3.5, 4.6)."""
