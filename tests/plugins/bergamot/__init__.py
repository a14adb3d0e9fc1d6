"""Students of Bergamot: their files, what they compute, and their conversion."""
