"""Norms of gradients, weights and updates of each parameter."""

import math
from collections.abc import Mapping

import numpy as np
import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.train.arrays import ViewData, to_array, to_dense
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.views.view import EngineView

ROW, LONG = 256, 1 << 20


def _make(run: TrainingRun, _options: Mapping[str, JsonValue]) -> ViewData:
    """Return numbers by parameter, (parameters,) float64.

    ``norms`` of the gradients, NaN without one; ``sizes`` of the weights; update ``ratios``;
    ``held``: 1 where there is a gradient, else 0.
    """
    parameters = list(run.program.model.parameters())
    norms = [float("nan") if p.grad is None else _norm(to_dense(p.grad)) for p in parameters]
    has_grad = [float(p.grad is not None) for p in parameters]
    sizes = [_norm(p) for p in parameters]
    ratios = [ratio for _, ratio in run.ratios] or [float("nan")] * len(norms)
    columns = {"norms": norms, "held": has_grad, "sizes": sizes, "ratios": ratios}
    return ViewData({name: to_array(np.array(c), "<f8") for name, c in columns.items()})


def _norm(tensor: torch.Tensor) -> float:
    """Return a norm summed in float64; for large tensors by short rows, which is much faster."""
    if tensor.dtype == torch.float32 and tensor.numel() >= LONG and tensor.numel() % ROW == 0:
        norm: float = tensor.reshape(-1, ROW).norm(dim=1).double().norm().item()
        if math.isfinite(norm):
            return norm
    return float(tensor.double().norm().item())


ENTRY = EngineView("gradients", _make, needs_gradients=True)
