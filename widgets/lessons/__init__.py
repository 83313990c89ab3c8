"""Widgets of a lesson."""
