"""Painters of the graph seen from afar."""
