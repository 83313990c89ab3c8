"""Typing aids of the editor: brackets and quotes closed as they are typed."""
