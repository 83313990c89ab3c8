"""Captured training: a step as straight-line calls, verified against plain PyTorch."""
