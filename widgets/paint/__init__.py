"""How the graph is painted; every painter works in scene units."""
