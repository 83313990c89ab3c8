"""Painting of widgets: deferred, from a cache, translucent over a window."""
