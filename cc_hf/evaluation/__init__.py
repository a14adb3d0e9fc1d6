"""Evaluation: from a dataset, translations and a metric to a result."""
