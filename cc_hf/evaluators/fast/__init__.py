"""The faster forward pass and its products."""
