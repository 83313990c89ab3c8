"""The window on a training loop that runs in the user's own process."""
