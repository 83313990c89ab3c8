"""Histograms of weights, gradients or activations."""

from collections.abc import Mapping

import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.train.arrays import ViewData, int_option, to_array, to_dense
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.views import limits, maps
from gradscribe.engine.train.views.view import EngineView

KINDS = ("weight", "gradient", "activation")
ROWS = 2000
"""Maximum rows of the data for activations."""


def _make(run: TrainingRun, options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return histograms with equal bins from the minimum to the maximum of each row.

    Options: ``bins`` 32, ``of``: ``weight``, ``gradient`` or ``activation``. ``counts`` (rows,
    bins) float32, ``edges`` (rows, 2) float32; rows are parameters or units' layers. The fact
    ``of`` is the place of the kind in `KINDS`.
    """
    bins = int_option(options, "bins", 32, 4, 256)
    kind = options.get("of", "weight")
    match kind:
        case "gradient":
            pairs = [(p, p.grad) for p in run.program.model.parameters()]
            tensors = [torch.zeros(0) if g is None else to_dense(g) for _, g in pairs]
        case "activation":
            x = run.program.x[: limits.max_rows(run, ROWS)]
            tensors = [output for _, _, output in maps.layers(run, x)]
        case _:
            tensors = [p.detach() for p in run.program.model.parameters()]
    if not tensors:
        return None
    counts, edges = torch.zeros(len(tensors), bins), torch.zeros(len(tensors), 2)
    for row, values in enumerate(tensors):
        finite = values.float().cpu().reshape(-1)
        finite_mask = torch.isfinite(finite)
        finite = finite if bool(finite_mask.all()) else finite[finite_mask]
        if len(finite):
            edges[row] = torch.stack([finite.min(), finite.max()])
            low, high = edges[row].tolist()
            counts[row] = torch.histc(finite, bins, low, high if high > low else low + 1e-6)
    facts = {"of": float(KINDS.index(str(kind)) if kind in KINDS else 0)}
    return ViewData({"counts": to_array(counts), "edges": to_array(edges)}, facts)


ENTRY = EngineView("histograms", _make, needs_gradients=True)
