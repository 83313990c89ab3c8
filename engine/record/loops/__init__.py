"""Loops of a program: which of their steps are recorded in full, and numbers of all others."""
