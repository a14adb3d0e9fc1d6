"""Training: how the embedded evaluator was made."""
