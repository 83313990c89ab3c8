"""Training views, one file each."""
