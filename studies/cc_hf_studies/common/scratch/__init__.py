"""Training of translation models from random weights; `run.train` does all of it."""
