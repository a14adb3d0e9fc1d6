"""What can be done with verdicts, one folder each; the core reaches them through the registry."""
