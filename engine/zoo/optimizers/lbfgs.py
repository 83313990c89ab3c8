"""torch.optim.LBFGS."""

import torch

from gradscribe.engine.zoo.entry import Optimizer, read_options

ENTRY = Optimizer(
    torch.optim.LBFGS,
    "L-BFGS",
    "Quasi-Newton: several evaluations a step; for full batches",
    options=read_options(
        torch.optim.LBFGS,
        lr={"high": 10.0, "default": 1.0},
        max_iter={"low": 1, "high": 1000},
        history_size={"low": 1, "high": 1000},
        line_search_fn={"kind": "choice", "default": "", "choices": ("", "strong_wolfe")},
    ),
    closure=True,
)
