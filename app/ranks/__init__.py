"""Runs on several ranks: their files, their window."""
