"""Data that the user types, draws or loads from a file."""
