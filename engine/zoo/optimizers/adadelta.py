"""torch.optim.Adadelta."""

import torch

from gradscribe.engine.zoo.entry import Optimizer, read_options

ENTRY = Optimizer(
    torch.optim.Adadelta,
    "Adadelta",
    "Rates from running means of gradients and updates",
    options=read_options(torch.optim.Adadelta, lr={"high": 10.0, "default": 1.0}),
)
