"""Exchange with the Hugging Face Hub: datasets, metrics, results and Spaces."""
