"""torch.optim.SGD."""

import torch

from gradscribe.engine.zoo.entry import Optimizer, read_options

ENTRY = Optimizer(
    torch.optim.SGD,
    "SGD",
    "Against the gradient, with momentum if wanted",
    options=read_options(torch.optim.SGD, lr={"high": 10.0}, momentum={"low": 0.0, "high": 1.0}),
    first=True,
)
