"""Lessons: read from plain files, asked and answered on the tape; nothing here draws anything."""
