"""Tables and charts of what is computed over results."""
