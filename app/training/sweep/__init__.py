"""Sweeps: many trials of a setup, with other values of some of its options."""
