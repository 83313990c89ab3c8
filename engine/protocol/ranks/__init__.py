"""Data that the ranks of one run share: their job, and collectives that belong together."""
