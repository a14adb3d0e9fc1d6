"""Judgements compared: of systems, seeds, metrics, models and people."""
