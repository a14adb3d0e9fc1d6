"""Material: declarations, pinned files, one pure reader per dataset, files of translations."""
