"""Gender-fair German: its reader, and the metrics that read its words."""
