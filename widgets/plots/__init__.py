"""Plots of a training run: a file per view, each drawn from arrays and a theme."""
