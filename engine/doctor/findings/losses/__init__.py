"""Findings on losses and targets."""
