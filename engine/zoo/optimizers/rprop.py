"""torch.optim.Rprop."""

import torch

from gradscribe.engine.zoo.entry import Optimizer, read_options

ENTRY = Optimizer(
    torch.optim.Rprop,
    "Rprop",
    "Only the signs of gradients count; for full batches",
    options=read_options(torch.optim.Rprop, lr={"high": 10.0, "default": 0.01}),
)
