"""Where a run's weights have been: few points, evenly over all its steps, for the loss surface."""

import torch
from torch import nn

POINTS = 128
MOST = 20_000
"""A model of more parameters leaves no trail of its own; there are its checkpoints."""


class Trail:
    """All parameters as one vector at some steps."""

    def __init__(self) -> None:
        self.stride = 1
        self.points: dict[int, torch.Tensor] = {}

    def left(self, step: int) -> int:
        """Return how many steps after ``step`` the next point is due."""
        return self.stride - step % self.stride

    def add(self, step: int, model: nn.Module) -> None:
        """Note where the model is after ``step``, if that is due."""
        if step % self.stride:
            return
        flat = [p.detach().reshape(-1) for p in model.parameters()]
        if sum(map(len, flat)) > MOST:
            self.stride = 1 << 62
            return
        self.points[step] = torch.cat(flat)
        if len(self.points) > POINTS:
            self.stride *= 2
            self.points = {at: one for at, one in self.points.items() if at % self.stride == 0}

    def forget_after(self, step: int) -> None:
        """Forget where it was later."""
        self.points = {at: one for at, one in self.points.items() if at <= step}

    def copied(self, step: int) -> "Trail":
        """Return the trail up to ``step``, for another run."""
        made = Trail()
        made.stride, made.points = self.stride, dict(self.points)
        made.forget_after(step)
        return made
