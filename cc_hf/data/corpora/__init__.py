"""Parallel corpora, read as streams of sentence pairs."""
