"""Training of translation models from random weights: pairs, pieces, model, batches and trainer.

`cc_hf.training.scratch.run.train` is the whole; `TrainingOptions` says how.
"""
