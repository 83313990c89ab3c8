"""Findings on the graph of autograd: cuts, backward calls, values changed in place."""
