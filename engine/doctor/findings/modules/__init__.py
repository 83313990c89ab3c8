"""Findings on modules: modes, freezing, parameters without use."""
