"""Cues for word senses by a masked language model, and which wording of cues an evaluator knows."""
