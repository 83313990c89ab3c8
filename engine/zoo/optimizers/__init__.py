"""Optimizers, one entry per module."""
