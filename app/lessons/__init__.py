"""Lessons: catalogue, progress and the dock that plays them."""
