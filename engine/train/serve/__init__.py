"""Training served over the pipe, in slices between messages."""
