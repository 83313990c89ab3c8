"""One file per entry: losses."""
