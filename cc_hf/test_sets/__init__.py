"""Test sets, one folder each: declaration and reader, and the metrics that read its words."""
