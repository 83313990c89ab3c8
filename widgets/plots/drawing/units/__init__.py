"""Maps, weights and biases of the units of a network."""
