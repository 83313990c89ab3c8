"""Learning rate schedules, one entry per module."""
