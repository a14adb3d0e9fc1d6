"""Studies as tables and pictures."""
