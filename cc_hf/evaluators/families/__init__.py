"""One file per evaluator family: how it marks languages and labels."""
