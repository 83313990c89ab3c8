"""Values and copies of their numbers."""
