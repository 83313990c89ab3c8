"""How much of a big model is looked at: training waits meanwhile, and whoever paused it."""

import math

from engine.train.run import Run

WORK = 1 << 33
"""Parameters times examples, about, that one view may cost: less than half a second."""
FEWEST = 64
"""Examples that every view may ask of a model, however big."""
MOST_SENT = 1 << 25
"""Parameters that fit into one message."""


def parameters(run: Run) -> int:
    """Return how many numbers a model learns."""
    return sum(p.numel() for p in run.program.model.parameters())


def rows(run: Run, most: int) -> int:
    """Return how many examples a view may ask the model about, up to ``most``."""
    return min(most, max(FEWEST, WORK // max(1, parameters(run))))


def side(run: Run, most: int) -> int:
    """Return how many points a grid may have along a side, up to ``most``."""
    return math.isqrt(rows(run, most * most))
