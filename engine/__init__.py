"""The engine: torch, the devices and the user's code, in a process of its own."""
