"""Texts and tables of the shape lab: derivation of a result's shape from its operands' shapes."""
