"""Evaluator families, one file each: how a family marks languages and labels."""
