"""Data sets, one entry per module, in a folder for each group of the menu."""
