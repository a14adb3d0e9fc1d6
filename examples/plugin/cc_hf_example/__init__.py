"""A command, a dataset, a metric, an evaluator family and a study, found by entry points."""
