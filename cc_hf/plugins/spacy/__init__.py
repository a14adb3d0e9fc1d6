"""Words read in their sentences by the pipelines of spaCy."""
