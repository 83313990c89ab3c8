"""Matplotlib in the engine: what programs show or save travels to the window."""
