"""torch.optim.SparseAdam."""

import torch

from engine.zoo.pieces import Optimizer, read_options

ENTRY = Optimizer(
    torch.optim.SparseAdam,
    "SparseAdam",
    "Adam for embeddings made with sparse=True",
    read_options(torch.optim.SparseAdam, True, lr={"high": 10.0}),
)
