"""Data sets, one entry per module."""
