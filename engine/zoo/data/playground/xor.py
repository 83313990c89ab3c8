"""TensorFlow Playground's exclusive or."""

import torch

from gradscribe.engine.zoo.entry import PLAYGROUND_NOISE, PLAYGROUND_SIZE, Data


def xor(n: int, noise: float, rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (n, 2) points in four quadrants, and whether both signs are equal (n,)."""
    x = torch.rand(n, 2, generator=rng) * 10 - 5
    x = x + torch.where(x > 0, 0.3, -0.3)
    moved = x + noise * (torch.rand(n, 2, generator=rng) * 10 - 5)
    return x, (moved[:, 0] * moved[:, 1] >= 0).long()


ENTRY = Data(
    xor,
    "Exclusive or",
    "TensorFlow Playground's: opposite quadrants belong together",
    "binary",
    "2",
    options=(PLAYGROUND_SIZE, PLAYGROUND_NOISE),
    group="Playground",
)
