"""TensorFlow Playground's spiral."""

import math

import torch

from gradscribe.engine.zoo.entry import PLAYGROUND_NOISE, PLAYGROUND_SIZE, Data


def spiral(n: int, noise: float, rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (n, 2) points on two arms of 1.75 turns, and which (n,)."""
    half = n // 2
    place = torch.cat([torch.arange(half) / half, torch.arange(n - half) / (n - half)])
    label = (torch.arange(n) < half).long()
    radius = 5 * place
    angle = 1.75 * 2 * math.pi * place + math.pi * (1 - label)
    x = torch.stack([radius * torch.sin(angle), radius * torch.cos(angle)], dim=1)
    return x + noise * (torch.rand(n, 2, generator=rng) * 2 - 1), label


ENTRY = Data(
    spiral,
    "Spiral",
    "TensorFlow Playground's: two arms, the hardest of its four",
    "binary",
    "2",
    options=(PLAYGROUND_SIZE, PLAYGROUND_NOISE),
    group="Playground",
)
