"""torch.optim.RAdam."""

import torch

from gradscribe.engine.zoo.entry import Optimizer, read_options

ENTRY = Optimizer(
    torch.optim.RAdam,
    "RAdam",
    "Adam that warms up by itself",
    options=read_options(torch.optim.RAdam, lr={"high": 10.0, "default": 0.001}),
)
