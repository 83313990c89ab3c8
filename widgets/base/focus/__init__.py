"""The keyboard focus: the ring that shows it, and the order in which Tab leads it on."""
