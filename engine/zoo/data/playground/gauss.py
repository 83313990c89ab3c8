"""TensorFlow Playground's two gaussians."""

import math

import torch

from gradscribe.engine.zoo.entry import PLAYGROUND_NOISE, PLAYGROUND_SIZE, Data


def gauss(n: int, noise: float, rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (n, 2) points around (2, 2) and (-2, -2), and which (n,)."""
    label = (torch.arange(n) < n // 2).long()
    center = torch.where(label == 1, 2.0, -2.0).unsqueeze(1)
    variance = 0.5 + noise / 0.5 * 3.5
    return center + math.sqrt(variance) * torch.randn(n, 2, generator=rng), label


ENTRY = Data(
    gauss,
    "Two gaussians",
    "TensorFlow Playground's: a line divides them",
    "binary",
    "2",
    options=(PLAYGROUND_SIZE, PLAYGROUND_NOISE),
    group="Playground",
)
