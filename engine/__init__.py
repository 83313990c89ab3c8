"""The engine process: torch, the devices and the user's code."""
