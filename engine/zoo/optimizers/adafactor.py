"""torch.optim.Adafactor."""

import torch

from gradscribe.engine.zoo.entry import Optimizer, read_options

ENTRY = Optimizer(
    torch.optim.Adafactor,
    "Adafactor",
    "Keeps row and column means in place of every square",
    options=read_options(torch.optim.Adafactor, lr={"high": 10.0, "default": 0.01}),
)
