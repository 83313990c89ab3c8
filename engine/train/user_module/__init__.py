"""Models written by the user: their attributes, state and checks."""
