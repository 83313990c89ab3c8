"""TensorFlow Playground's circle."""

import math

import torch

from gradscribe.engine.zoo.entry import PLAYGROUND_NOISE, PLAYGROUND_SIZE, Data


def circle(n: int, noise: float, rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (n, 2) points of a disc and a ring around it, and whether each is inside (n,)."""
    half = n // 2
    inner = 2.5 * torch.rand(half, generator=rng)
    outer = 3.5 + 1.5 * torch.rand(n - half, generator=rng)
    radius = torch.cat([inner, outer])
    angle = 2 * math.pi * torch.rand(n, generator=rng)
    x = torch.stack([radius * torch.sin(angle), radius * torch.cos(angle)], dim=1)
    moved = x + noise * (torch.rand(n, 2, generator=rng) * 10 - 5)
    return x, (moved.norm(dim=1) < 2.5).long()


ENTRY = Data(
    circle,
    "Circle",
    "TensorFlow Playground's: a disc inside a ring",
    "binary",
    "2",
    options=(PLAYGROUND_SIZE, PLAYGROUND_NOISE),
    group="Playground",
)
