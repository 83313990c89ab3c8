"""Gradients by hand: the questions of a program, hidden gradients, exercises, backward code."""
