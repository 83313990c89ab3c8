"""Lectures on a run: their slides, as they stand in its file."""
