"""torch.optim.AdamW."""

import torch

from gradscribe.engine.zoo.entry import Optimizer, read_options

ENTRY = Optimizer(
    torch.optim.AdamW,
    "AdamW",
    "Adam with weight decay kept apart from the gradient",
    options=read_options(torch.optim.AdamW, lr={"high": 10.0, "default": 0.001}),
    first=True,
)
