"""torch.optim.RMSprop."""

import torch

from gradscribe.engine.zoo.entry import Optimizer, read_options

ENTRY = Optimizer(
    torch.optim.RMSprop,
    "RMSprop",
    "Divides by a running root mean square of gradients",
    options=read_options(torch.optim.RMSprop, lr={"high": 10.0, "default": 0.01}),
)
