"""Painters of cards and of what is attached to them."""
