"""The window of the settings: a row for each declared setting."""
