"""Questions about a finished run: peek, gradient checks, the shape lab, export."""
