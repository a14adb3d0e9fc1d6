"""Readers, one pure function per dataset: from its files to examples."""
