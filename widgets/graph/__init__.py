"""The graph view."""
