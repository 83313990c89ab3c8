"""The graph for assistive technology: its cards and wires as children, and words for them."""
