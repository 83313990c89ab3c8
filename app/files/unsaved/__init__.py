"""Unsaved work: written as it is edited, and offered after a crash."""
