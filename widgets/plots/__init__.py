"""Plots of a training run: one file per view, each drawn from arrays and a theme."""
