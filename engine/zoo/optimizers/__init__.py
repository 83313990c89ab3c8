"""One file per entry: optimizers."""
