"""One file per entry: data."""
