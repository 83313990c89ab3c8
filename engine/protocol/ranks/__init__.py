"""Data that the ranks of one run share: their job."""
