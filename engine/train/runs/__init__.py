"""Training runs: steps, checkpoints, history, export."""
