"""Folding of a scene: modules, equal calls and repeats as one card, and what belongs inside."""
