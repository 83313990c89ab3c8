"""Folding: the lines of a block are hidden under its first line."""
