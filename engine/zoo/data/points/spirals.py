"""Spirals, one arm per class."""

import math

import torch

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import NOISE, Data


def spirals(
    n: int, noise: float, classes: int, rng: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (n, 2) points on ``classes`` arms of one turn each, and which (n,)."""
    label = torch.arange(n) % classes
    place = (torch.arange(n) // classes) / (n / classes)
    angle = 2 * math.pi * (place + label / classes)
    x = 4 * place.unsqueeze(1) * torch.stack([torch.cos(angle), torch.sin(angle)], dim=1)
    return x + noise * torch.randn(n, 2, generator=rng), label


ENTRY = Data(
    spirals,
    "Spirals",
    "One arm per class",
    "classes",
    "2",
    options=(
        Option("n", "int", 300, "Examples", low=10, high=100_000, log=True),
        NOISE,
        Option("classes", "int", 3, "Classes", low=2, high=5),
    ),
    group="Points",
)
