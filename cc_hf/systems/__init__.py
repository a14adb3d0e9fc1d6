"""Systems under test: models that translate."""
