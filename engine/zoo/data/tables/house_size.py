"""House prices by size."""

import torch

from gradscribe.engine.zoo.entry import NOISE, SIZE, Data


def house_size(n: int, noise: float, rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Return sizes in 1,000 square feet and prices in 100,000 dollars, both (n, 1)."""
    size = 0.8 + 2.4 * torch.rand(n, 1, generator=rng)
    price = 0.5 + 1.5 * size + noise * torch.randn(n, 1, generator=rng)
    return size, price


ENTRY = Data(
    house_size,
    "House prices by size",
    "Sizes in 1,000 square feet, prices in 100,000 dollars; made up",
    "regression",
    "1",
    options=(SIZE, NOISE),
    group="Tables",
    names=("size",),
)
