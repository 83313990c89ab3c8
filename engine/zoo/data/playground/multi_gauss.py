"""TensorFlow Playground's six bumps."""

import torch

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import PLAYGROUND_NOISE, Data


def multi_gauss(n: int, noise: float, rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (n, 2) points in [-6, 6] and the height of six cones, up and down (n, 1)."""
    x = torch.rand(n, 2, generator=rng) * 12 - 6
    moved = x + noise * (torch.rand(n, 2, generator=rng) * 12 - 6)
    centers = [(-4, 2.5, 1), (0, 2.5, -1), (4, 2.5, 1), (-4, -2.5, -1), (0, -2.5, 1), (4, -2.5, -1)]
    y = torch.zeros(n)
    for x1, x2, sign in centers:
        distance = (moved - torch.tensor([x1, x2])).norm(dim=1)
        height = sign * (1 - distance / 2).clamp(0, 1)
        y = torch.where(height.abs() > y.abs(), height, y)
    return x, y.unsqueeze(1)


ENTRY = Data(
    multi_gauss,
    "Six bumps",
    "TensorFlow Playground's multi-gaussian regression",
    "regression",
    "2",
    options=(Option("n", "int", 1200, "Examples", low=4, high=100_000, log=True), PLAYGROUND_NOISE),
    group="Playground",
)
