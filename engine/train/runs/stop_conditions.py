"""Stop conditions of a run, checked after every step: it pauses at the first that holds."""

import math
from collections import deque
from collections.abc import Iterable

from gradscribe.engine.protocol.training.requests import StopCondition
from gradscribe.engine.train.runs.history import SMOOTHED

PLATEAU = 1e-4
"""Minimum relative decrease that counts as an improvement."""


class StopConditions:
    """Stop conditions: called with each loss, returns whether to pause; ``reached`` says why."""

    def __init__(self, until: Iterable[StopCondition], recent: Iterable[float] = ()) -> None:
        """Check for ``until``; ``recent`` are the losses of the preceding steps."""
        self._below = max((u.value for u in until if u.kind == "loss_below"), default=-math.inf)
        waits = [max(1.0, u.value) for u in until if u.kind == "plateau"]
        self._patience = min(waits, default=math.inf)
        self._last = deque(recent, maxlen=SMOOTHED)
        self._best, self._since = math.inf, 0
        self.reached = ""

    def __bool__(self) -> bool:
        """Return whether there is any condition on the loss."""
        return self._below > -math.inf or self._patience < math.inf

    def __call__(self, loss: float) -> bool:
        """Add the loss of the next step; return whether to pause after it."""
        self._last.append(loss)
        mean = sum(self._last) / len(self._last)
        self._since += 1
        if mean < self._best * (1 - PLATEAU):
            self._best, self._since = mean, 0
        if mean < self._below:
            self.reached = "loss_below"
        elif self._since >= self._patience:
            self.reached = "plateau"
        return bool(self.reached)
