"""torch.optim.Adam."""

import torch

from gradscribe.engine.zoo.entry import Optimizer, read_options

ENTRY = Optimizer(
    torch.optim.Adam,
    "Adam",
    "Each weight has a rate of its own",
    options=read_options(torch.optim.Adam, lr={"high": 10.0, "default": 0.001}),
    first=True,
)
