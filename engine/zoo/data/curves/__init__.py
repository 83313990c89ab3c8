"""Curves with noise."""
