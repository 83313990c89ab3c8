"""The document: program text, result and view, and the scene that shows them."""
