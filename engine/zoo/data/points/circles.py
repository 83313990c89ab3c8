"""Two circles, one inside the other."""

import math

import torch

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import NOISE, SIZE, Data


def circles(
    n: int, noise: float, factor: float, rng: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (n, 2) points on circles of radius 1 and ``factor``, and which (n,)."""
    label = (torch.arange(n) >= n // 2).long()
    radius = torch.where(label == 1, factor, 1.0).unsqueeze(1)
    angle = 2 * math.pi * torch.rand(n, generator=rng)
    x = radius * torch.stack([torch.cos(angle), torch.sin(angle)], dim=1)
    return x + noise * torch.randn(n, 2, generator=rng), label


ENTRY = Data(
    circles,
    "Circles",
    "One inside the other: no line divides them",
    "binary",
    "2",
    options=(
        SIZE,
        NOISE,
        Option("factor", "float", 0.5, "Radius of the inner one", low=0.0, high=1.0),
    ),
    group="Points",
)
