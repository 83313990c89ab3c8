"""Indexes over the tape: scenes, phases, tracks, tempo."""
