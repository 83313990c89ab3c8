"""torch.optim.NAdam."""

import torch

from gradscribe.engine.zoo.entry import Optimizer, read_options

ENTRY = Optimizer(
    torch.optim.NAdam,
    "NAdam",
    "Adam with Nesterov momentum",
    options=read_options(torch.optim.NAdam, lr={"high": 10.0, "default": 0.002}),
)
