"""The studies of Wino-X (Emelin & Sennrich 2021; Emelin's thesis, chapter 4)."""
