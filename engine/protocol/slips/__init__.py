"""Slips in setups that people write by hand: their JSON, and the names in it."""
