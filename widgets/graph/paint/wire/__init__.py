"""Painters of wires, of the labels on them, and of the tokens that run along them."""
