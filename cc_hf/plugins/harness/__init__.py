"""Tasks for inspect-ai and lm-eval, and metrics for the evaluation of Firefox Translations."""
