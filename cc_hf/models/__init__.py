"""What is loaded, without what it is for."""
