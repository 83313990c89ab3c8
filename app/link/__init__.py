"""The connection to the engine process: start it, ask it, replace it."""
