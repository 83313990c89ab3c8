"""Mistakes that the tapes of several ranks show together."""
