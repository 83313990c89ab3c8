"""Painters of the graph; all work in scene units."""
