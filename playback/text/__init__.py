"""Numbers, symbols and source as text."""
