"""What the layers of a translation model still tell of their words (Emelin 2023, chapter 5)."""
