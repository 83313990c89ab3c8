"""The keyboard focus: the ring that shows it."""
