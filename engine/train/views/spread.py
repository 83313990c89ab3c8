"""Quantiles of weights, gradients and activations: a row of their spread over time."""

from collections.abc import Mapping

import numpy as np
import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.protocol.training.replies import QUANTILES
from gradscribe.engine.train.arrays import ViewData, to_array, to_dense
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.views import limits, maps
from gradscribe.engine.train.views.view import EngineView

ROWS = 500
"""Maximum rows of the data for activations."""
MOST_PARAMETERS = 1 << 22
"""Models with more parameters have no spread: sorting them would take seconds."""


def _make(run: TrainingRun, _options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return quantiles as `numpy.quantile` gives them, of the finite numbers of each tensor.

    ``quantiles`` (rows, `QUANTILES`) float64, NaN without a finite number; ``counts`` (rows, 3)
    int64: numbers, NaN, infinities. Rows: the weights of each parameter, the gradients of each
    (no numbers without one), the activations of each of the units' layers.
    """
    if limits.parameter_count(run) > MOST_PARAMETERS:
        return None
    parameters = list(run.program.model.parameters())
    grads = [torch.zeros(0) if p.grad is None else to_dense(p.grad) for p in parameters]
    x = run.program.x[: limits.max_rows(run, ROWS)]
    outputs = [output for _, _, output in maps.layers(run, x)]
    tensors = [*(to_dense(p.detach()) for p in parameters), *grads, *outputs]
    if not tensors:
        return None
    quantiles, counts = np.full((len(tensors), len(QUANTILES)), np.nan), np.zeros((len(tensors), 3))
    for row, tensor in enumerate(tensors):
        numbers = tensor.detach().double().cpu().reshape(-1).numpy()
        finite = numbers[np.isfinite(numbers)]
        if finite.size:
            with np.errstate(over="ignore", invalid="ignore"):
                quantiles[row] = np.quantile(finite, QUANTILES)
        nan = int(np.isnan(numbers).sum())
        counts[row] = numbers.size, nan, numbers.size - finite.size - nan
    return ViewData({"quantiles": to_array(quantiles, "<f8"), "counts": to_array(counts, "<i8")})


ENTRY = EngineView("spread", _make, needs_gradients=True)
"""At the pace of views, so that training never waits for it."""
