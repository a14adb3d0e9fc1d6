"""Adversarial sentences that flip the sense of a homograph (Emelin 2023, section 3.3)."""
