"""Questions to language models: planned, asked, and their answers judged."""
