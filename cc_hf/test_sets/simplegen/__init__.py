"""SimpleGEN: its reader, and the metrics that read its words."""
