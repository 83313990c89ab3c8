"""Training sessions in files."""
