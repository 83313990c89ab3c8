"""Losses, one entry per module."""
