"""Disambiguation cues from a masked language model and an evaluator."""
