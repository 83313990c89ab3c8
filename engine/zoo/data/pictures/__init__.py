"""Pictures with classes."""
