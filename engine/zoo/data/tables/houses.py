"""House prices by size, bedrooms and age."""

import torch

from gradscribe.engine.zoo.entry import NOISE, SIZE, Data


def houses(n: int, noise: float, rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (size, bedrooms, age) (n, 3) and prices in 100,000 dollars (n, 1)."""
    size = 0.8 + 2.4 * torch.rand(n, generator=rng)
    bedrooms = torch.randint(1, 6, (n,), generator=rng).float()
    age = 50 * torch.rand(n, generator=rng)
    price = 0.5 + 1.5 * size + 0.2 * bedrooms - 0.015 * age
    price = price + noise * torch.randn(n, generator=rng)
    return torch.stack([size, bedrooms, age], dim=1), price.unsqueeze(1)


ENTRY = Data(
    houses,
    "House prices",
    "Size, bedrooms and age on scales of their own: try to standardize; made up",
    "regression",
    "3",
    options=(SIZE, NOISE),
    group="Tables",
    names=("size", "bedrooms", "age"),
)
