"""State of training: runs, curves, and the orders given to the engine."""
