"""Stop conditions of a run, checked after every step: it pauses at the first that holds."""

import math
from collections import deque
from collections.abc import Iterable

import torch

from gradscribe.engine.protocol.training.requests import StopCondition
from gradscribe.engine.train.runs.history import SMOOTHED
from gradscribe.engine.train.source.program import TrainingProgram

PLATEAU = 1e-4
"""Minimum relative decrease that counts as an improvement."""
SOLVED = 0.05
"""Loss of classes below which they are told apart with confidence."""
SOLVED_SHARES = {"mse": 0.01, "half": 0.01, "huber": 0.02, "l1": 0.1}
"""Of a regression: the share of the loss of the best constant prediction, by name of the loss."""


def solved_below(program: TrainingProgram) -> float:
    """Return the loss below which a run counts as solved; minus infinity if that is unknown."""
    if program.task != "regression":
        return SOLVED
    loss = program.setup.loss
    share = SOLVED_SHARES.get(loss.name, 0.0) if loss is not None else 0.0
    y = program.tensor("y_train")
    with torch.no_grad():
        constant = program.criterion(y.mean(dim=0, keepdim=True).expand_as(y), y).item()
    return share * constant if share and constant > 0 else -math.inf


class StopConditions:
    """Stop conditions: called with each loss, returns whether to pause; ``reached`` says why."""

    def __init__(
        self,
        until: Iterable[StopCondition],
        recent: Iterable[float] = (),
        solved: float = -math.inf,
    ) -> None:
        """Check for ``until``.

        ``recent``: the losses of the preceding steps; ``solved``: the loss below which the run
        counts as solved.
        """
        until = tuple(until)
        self._solved = solved if any(u.kind == "solved" for u in until) else -math.inf
        self._below = max((u.value for u in until if u.kind == "loss_below"), default=-math.inf)
        waits = [max(1.0, u.value) for u in until if u.kind == "plateau"]
        self._patience = min(waits, default=math.inf)
        self._last = deque(recent, maxlen=SMOOTHED)
        self._best, self._since = math.inf, 0
        self.reached = ""

    def __bool__(self) -> bool:
        """Return whether there is any condition on the loss."""
        return max(self._below, self._solved) > -math.inf or self._patience < math.inf

    def __call__(self, loss: float) -> bool:
        """Add the loss of the next step; return whether to pause after it."""
        self._last.append(loss)
        mean = sum(self._last) / len(self._last)
        self._since += 1
        if mean < self._best * (1 - PLATEAU):
            self._best, self._since = mean, 0
        if mean < self._below:
            self.reached = "loss_below"
        elif mean < self._solved and len(self._last) >= SMOOTHED:
            self.reached = "solved"
        elif self._since >= self._patience:
            self.reached = "plateau"
        return bool(self.reached)
