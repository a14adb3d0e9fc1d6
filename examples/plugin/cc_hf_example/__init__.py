"""A dataset, a metric, an evaluator family and a study that cc_hf finds by entry points."""
