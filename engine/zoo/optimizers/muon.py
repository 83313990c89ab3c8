"""torch.optim.Muon."""

import torch

from gradscribe.engine.zoo.entry import Optimizer, read_options


def _entry() -> Optimizer:
    return Optimizer(
        torch.optim.Muon,
        "Muon",
        "Momentum made orthogonal; for models whose parameters are all matrices",
        options=read_options(
            torch.optim.Muon,
            lr={"high": 10.0},
            adjust_lr_fn={
                "kind": "choice",
                "default": "",
                "choices": ("", "original", "match_rms_adamw"),
            },
        ),
    )


ENTRY = _entry() if hasattr(torch.optim, "Muon") else None
"""None before torch 2.9, which is the first to have it."""
