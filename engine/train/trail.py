"""Where a run's weights have been: more points of its beginning than of later, for the surface."""

import torch
from torch import nn

MOST = 5_000
"""A model of more parameters leaves no trail of its own; there are its checkpoints."""


class Trail:
    """All parameters as one vector, of every step up to 64 and 32 times in each doubling after."""

    def __init__(self) -> None:
        self.points: dict[int, torch.Tensor] = {}
        self._leaves = True

    def left(self, step: int) -> int:
        """Return how many steps after ``step`` the next point is due."""
        every = stride(step + 1)
        return every - step % every if self._leaves else 1 << 62

    def add(self, step: int, model: nn.Module) -> None:
        """Note where the model is after ``step``, if that is due."""
        if not self._leaves or step % stride(step) or step in self.points:
            return
        flat = [p.detach().reshape(-1) for p in model.parameters()]
        self._leaves = sum(map(len, flat)) <= MOST
        if self._leaves:
            self.points[step] = torch.cat(flat)

    def forget_after(self, step: int) -> None:
        """Forget where it was later."""
        self.points = {at: one for at, one in self.points.items() if at <= step}

    def copied(self, step: int) -> "Trail":
        """Return the trail up to ``step``, for another run."""
        made = Trail()
        made._leaves, made.points = self._leaves, dict(self.points)
        made.forget_after(step)
        return made


def stride(step: int) -> int:
    """Return how far apart points stand around a step: 1 below 64, 2 below 128, 4 below 256..."""
    return 1 << max(0, step.bit_length() - 6)
