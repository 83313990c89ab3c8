"""Tables of numbers with the names of their columns."""
