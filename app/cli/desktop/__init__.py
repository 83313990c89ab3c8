"""The desktop that the window lives on."""
