"""Tape to picture: cards, wires, folding, colours."""
