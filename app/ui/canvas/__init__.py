"""Parts of the window that lie on the canvas of the graph."""
