"""Checks of custom autograd Functions against central differences."""
