"""One pure reader per dataset: from its files to examples."""
