"""Findings on the numbers of values and gradients."""
