"""Tasks for other programs that evaluate language models: inspect-ai and lm-eval."""
