"""torch.optim.ASGD."""

import torch

from gradscribe.engine.zoo.entry import Optimizer, read_options

ENTRY = Optimizer(
    torch.optim.ASGD,
    "ASGD",
    "SGD that also averages the weights",
    options=read_options(torch.optim.ASGD, lr={"high": 10.0, "default": 0.01}),
)
