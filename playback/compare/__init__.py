"""Comparison of two tapes: what differs first, and what differs because of it."""
