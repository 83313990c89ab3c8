"""Quantiles of weights, gradients and activations: a row of their spread over time."""

from collections.abc import Mapping

import numpy as np
import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.protocol.training.replies import (
    MAX_VIEW_PARAMETERS,
    QUANTILES,
    SPREAD_SAMPLE,
)
from gradscribe.engine.train.arrays import ViewData, to_array, to_dense
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.views import limits, maps
from gradscribe.engine.train.views.view import EngineView

ROWS, FEW_ROWS = 500, 16
"""Maximum rows of the data for activations, and for those of a model that is sampled."""


def _make(run: TrainingRun, _options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return quantiles as `numpy.quantile` gives them, of the finite numbers of each tensor.

    ``quantiles`` (rows, `QUANTILES`) float64, NaN without a finite number; ``counts`` (rows, 3)
    int64: numbers, NaN, infinities. Rows: the weights of each parameter, the gradients of each
    (no numbers without one), the activations of each of the units' layers.

    Of a model of more than `MAX_VIEW_PARAMETERS`, each tensor is a sample of `SPREAD_SAMPLE`:
    sorting all would take seconds. Its numbers are counted all, NaN and infinities in the sample.
    """
    is_sampled = limits.parameter_count(run) > MAX_VIEW_PARAMETERS
    parameters = list(run.program.model.parameters())
    grads = [torch.zeros(0) if p.grad is None else to_dense(p.grad) for p in parameters]
    x = run.program.x[: limits.max_rows(run, FEW_ROWS if is_sampled else ROWS)]
    outputs = [output for _, _, output in maps.layers(run, x)]
    tensors = [*(to_dense(p.detach()) for p in parameters), *grads, *outputs]
    if not tensors:
        return None
    quantiles, counts = np.full((len(tensors), len(QUANTILES)), np.nan), np.zeros((len(tensors), 3))
    for row, tensor in enumerate(tensors):
        part = _sample(tensor) if is_sampled else tensor
        numbers = part.detach().double().cpu().reshape(-1).numpy()
        finite = numbers[np.isfinite(numbers)]
        if finite.size:
            with np.errstate(over="ignore", invalid="ignore"):
                quantiles[row] = np.quantile(finite, QUANTILES)
        nan = int(np.isnan(numbers).sum())
        counts[row] = tensor.numel(), nan, numbers.size - finite.size - nan
    return ViewData({"quantiles": to_array(quantiles, "<f8"), "counts": to_array(counts, "<i8")})


def _sample(tensor: torch.Tensor) -> torch.Tensor:
    """Return `SPREAD_SAMPLE` of a tensor's numbers, the same ones each time; all of fewer."""
    if tensor.numel() <= SPREAD_SAMPLE:
        return tensor
    # At random: numbers at equal distances could all be of a few columns.
    rng = torch.Generator().manual_seed(0)
    places = torch.randint(tensor.numel(), (SPREAD_SAMPLE,), generator=rng)
    return tensor.detach().reshape(-1)[places.to(tensor.device)]


ENTRY = EngineView("spread", _make, needs_gradients=True)
"""At the pace of views, so that training never waits for it."""
