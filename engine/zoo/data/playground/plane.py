"""TensorFlow Playground's plane."""

import torch

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import PLAYGROUND_NOISE, Data


def plane(n: int, noise: float, rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (n, 2) points in [-6, 6] and (x1 + x2) / 10 (n, 1), read at a place off by noise."""
    x = torch.rand(n, 2, generator=rng) * 12 - 6
    moved = x + noise * (torch.rand(n, 2, generator=rng) * 12 - 6)
    return x, moved.sum(dim=1, keepdim=True) / 10


ENTRY = Data(
    plane,
    "Plane",
    "TensorFlow Playground's regression: a slope in two directions",
    "regression",
    "2",
    options=(Option("n", "int", 1200, "Examples", low=4, high=100_000, log=True), PLAYGROUND_NOISE),
    group="Playground",
)
