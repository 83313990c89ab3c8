"""Dimensions and rows of tensors, followed through ops."""
