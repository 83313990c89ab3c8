"""Two runs compared in one window."""
