"""Statistics over judgements: arrays in, frozen results out. No models, no files."""
