"""Gaussian blobs, one per class."""

import math

import torch

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import SIZE, Data


def gaussians(
    n: int, noise: float, classes: int, rng: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (n, 2) points around ``classes`` centres on a circle of radius 3, and which (n,)."""
    label = torch.arange(n) % classes
    angle = 2 * math.pi * label / classes
    center = 3 * torch.stack([torch.cos(angle), torch.sin(angle)], dim=1)
    return center + noise * torch.randn(n, 2, generator=rng), label


ENTRY = Data(
    gaussians,
    "Gaussians",
    "One cloud per class",
    "classes",
    "2",
    options=(
        SIZE,
        Option("noise", "float", 0.7, "Standard deviation of a cloud", low=0.0, high=3.0),
        Option("classes", "int", 3, "Classes", low=2, high=5),
    ),
    group="Points",
)
