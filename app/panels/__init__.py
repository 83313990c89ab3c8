"""Panels that the user arranges: docked, tabbed, in windows of their own, hidden; named layouts."""
