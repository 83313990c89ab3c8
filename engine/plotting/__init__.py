"""A substitute for Matplotlib that records what programs plot."""
