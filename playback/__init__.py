"""Views of a recorded tape (graph, layout, explanations, lessons): pure functions of a position."""
