"""Gradients in the picture: cards of backward nodes, their edges, and parameters' shares."""
