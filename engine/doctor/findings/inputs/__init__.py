"""Findings on input data: shapes, scales, types and devices."""
