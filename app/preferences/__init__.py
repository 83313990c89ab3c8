"""Preferences: the declared settings, and their exchange as a file."""
