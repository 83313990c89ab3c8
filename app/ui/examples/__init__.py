"""The gallery of examples, with their small pictures."""
