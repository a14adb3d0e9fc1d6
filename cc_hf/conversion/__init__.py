"""From fairseq's checkpoints to models of transformers."""
