"""Picture to placement: layers, order, coordinates, routes."""
