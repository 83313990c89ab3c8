"""Two half moons."""

import math

import torch

from gradscribe.engine.zoo.entry import NOISE, SIZE, Data


def moons(n: int, noise: float, rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (n, 2) points on two half circles that reach into each other, and which (n,)."""
    half = n // 2
    upper = math.pi * torch.rand(half, generator=rng)
    lower = math.pi * torch.rand(n - half, generator=rng)
    x1 = torch.cat([torch.cos(upper), 1 - torch.cos(lower)])
    x2 = torch.cat([torch.sin(upper), 0.5 - torch.sin(lower)])
    x = torch.stack([x1, x2], dim=1) + noise * torch.randn(n, 2, generator=rng)
    return x, torch.cat([torch.zeros(half), torch.ones(n - half)]).long()


ENTRY = Data(
    moons,
    "Moons",
    "Two half circles that reach into each other",
    "binary",
    "2",
    options=(SIZE, NOISE),
    group="Points",
)
