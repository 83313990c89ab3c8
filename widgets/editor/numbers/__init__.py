"""Numbers in the code: found, dragged, and moved by a slider."""
