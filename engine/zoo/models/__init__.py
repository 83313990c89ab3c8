"""Models, one entry per module."""
