"""torch.optim.Adamax."""

import torch

from gradscribe.engine.zoo.entry import Optimizer, read_options

ENTRY = Optimizer(
    torch.optim.Adamax,
    "Adamax",
    "Adam with the largest gradient in place of the root mean square",
    options=read_options(torch.optim.Adamax, lr={"high": 10.0, "default": 0.002}),
)
