"""Reusable Qt pieces."""
