"""torch.optim.SparseAdam."""

import torch

from gradscribe.engine.zoo.entry import Optimizer, read_options

ENTRY = Optimizer(
    torch.optim.SparseAdam,
    "SparseAdam",
    "Adam for embeddings made with sparse=True",
    options=read_options(torch.optim.SparseAdam, lr={"high": 10.0}),
)
