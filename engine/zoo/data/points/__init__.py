"""Points of a plane with classes."""
