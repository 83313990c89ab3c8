"""Fixes of errors and findings: offered, tried in a second engine, applied."""
