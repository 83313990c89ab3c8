"""Pages of the manual and their pictures, read with importlib.resources."""
