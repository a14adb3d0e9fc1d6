"""Tables of users, read and checked: one reader for all formats."""
