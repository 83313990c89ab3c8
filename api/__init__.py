"""Gradscribe: see PyTorch run forward and backward.

The folders `engine`, `playback`, `widgets`, `app` and `assets` of the source tree are installed as
subpackages of this package, so that no other top-level name is taken from a user's own modules.
"""
