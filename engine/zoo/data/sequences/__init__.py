"""Sequences of tokens."""
