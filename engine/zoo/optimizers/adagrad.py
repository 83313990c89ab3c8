"""torch.optim.Adagrad."""

import torch

from gradscribe.engine.zoo.entry import Optimizer, read_options

ENTRY = Optimizer(
    torch.optim.Adagrad,
    "Adagrad",
    "Divides by the root of all squared gradients so far",
    options=read_options(torch.optim.Adagrad, lr={"high": 10.0, "default": 0.01}),
)
