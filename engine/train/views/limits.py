"""Size limits for views, to bound the pause they cause."""

import math

from gradscribe.engine.train.runs.run import TrainingRun

WORK = 1 << 33
"""Approximate budget of one view in parameters times examples: less than half a second."""
FEWEST = 64
"""Minimum number of examples of a view, however big the model is."""
MOST_SENT = 1 << 25
"""Maximum number of parameters in one message."""


def parameter_count(run: TrainingRun) -> int:
    """Return the number of parameters of the model."""
    return sum(p.numel() for p in run.program.model.parameters())


def max_rows(run: TrainingRun, most: int) -> int:
    """Return how many examples a view may evaluate, up to ``most``."""
    return min(most, max(FEWEST, WORK // max(1, parameter_count(run))))


def max_side(run: TrainingRun, most: int) -> int:
    """Return how many points a grid may have along a side, up to ``most``."""
    return math.isqrt(max_rows(run, most * most))
