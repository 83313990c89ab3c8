"""Data of a program while it runs: its scalars, and drafts of the recording."""
