"""Students of Bergamot, the models of Firefox Translations: files, weights, tokenizer and model."""
