"""Training of translation models from random weights: pairs, pieces, sizes, model and trainer."""
