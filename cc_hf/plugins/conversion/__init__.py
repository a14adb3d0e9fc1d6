"""Conversion of fairseq checkpoints to models of transformers."""
