"""The faster forward pass and its matrix products."""
