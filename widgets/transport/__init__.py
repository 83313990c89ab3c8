"""Playback controls and the scrubber."""
