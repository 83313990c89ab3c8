"""Path of a run's weights for the loss surface, denser at the beginning."""

import torch
from torch import nn

MOST = 5_000
"""Maximum parameters; for larger models only the checkpoints are points of the path."""


class WeightPath:
    """Flat parameter vectors of every step up to 64, then of 32 steps in each doubling."""

    def __init__(self) -> None:
        self.points: dict[int, torch.Tensor] = {}
        self._is_small = True

    def steps_to_next(self, step: int) -> int:
        """Return in how many steps after ``step`` the next point is due."""
        every = stride(step + 1)
        return every - step % every if self._is_small else 1 << 62

    def add(self, step: int, model: nn.Module) -> None:
        """Record the parameters after ``step``, if that is due."""
        if not self._is_small or step % stride(step) or step in self.points:
            return
        flat = [p.detach().reshape(-1) for p in model.parameters()]
        self._is_small = sum(map(len, flat)) <= MOST
        if self._is_small:
            self.points[step] = torch.cat(flat)

    def forget_after(self, step: int) -> None:
        """Discard the points after ``step``."""
        self.points = {at: point for at, point in self.points.items() if at <= step}

    def copied(self, step: int) -> "WeightPath":
        """Return a copy up to ``step``, for another run."""
        path = WeightPath()
        path._is_small, path.points = self._is_small, dict(self.points)
        path.forget_after(step)
        return path


def stride(step: int) -> int:
    """Return the steps between points at a step: 1 below 64, 2 below 128, 4 below 256..."""
    return 1 << max(0, step.bit_length() - 6)
