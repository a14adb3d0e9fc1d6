"""DiscEvalMT: its reader."""
