"""Training of translation models from random weights: pairs, pieces, model, batches and trainer.

`cc_hf_studies.common.scratch.run.train` is the whole; `TrainingOptions` says how.
"""
