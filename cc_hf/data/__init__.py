"""Datasets: declarations, pinned files, one pure reader per dataset, translation files."""
