"""Tabs about the loop of the program: its curves, the history of a tensor."""
