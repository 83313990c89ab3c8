"""The training room: what it knows, and how that reaches the widgets and the engine."""
