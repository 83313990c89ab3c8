"""Qt widgets, independent of the application."""
