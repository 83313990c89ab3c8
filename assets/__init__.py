"""Icons, themes and examples, read with importlib.resources."""
