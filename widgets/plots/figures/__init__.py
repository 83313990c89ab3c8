"""Figures of programs: their picture, and the numbers in it."""
