"""Language models asked in words: prompts as data, and answers taken apart. No model runs here."""
