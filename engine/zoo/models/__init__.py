"""One file per entry: models."""
