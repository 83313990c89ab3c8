"""All weights and gradients as two flat vectors."""

from collections.abc import Mapping

import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.protocol.training.replies import MAX_VIEW_PARAMETERS
from gradscribe.engine.train.arrays import ViewData, int_option, to_array, to_dense
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.views import limits
from gradscribe.engine.train.views.view import EngineView


def _make(run: TrainingRun, options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return all parameters as ``flat`` and gradients as ``grads``; a missing gradient is NaN.

    Offsets are in `Parameter.start`. In float64 if any parameter is, so that a manual edit can be
    undone exactly. None if there are more than ``most`` parameters: the window receives them many
    times a second.
    """
    most = int_option(options, "most", MAX_VIEW_PARAMETERS, 0, limits.MOST_SENT)
    if limits.parameter_count(run) > most:
        return None
    parameters = list(run.program.model.parameters())
    grads = [
        torch.full((p.numel(),), float("nan"))
        if p.grad is None
        else to_dense(p.grad).reshape(-1).cpu()
        for p in parameters
    ]
    is_double = any(p.dtype == torch.float64 for p in parameters)
    wide, sent = (torch.float64, "<f8") if is_double else (torch.float32, "<f4")
    flat = torch.cat([p.detach().reshape(-1).cpu().to(wide) for p in parameters])
    flat_grads = torch.cat([g.to(wide) for g in grads])
    return ViewData({"flat": to_array(flat, sent), "grads": to_array(flat_grads, sent)})


ENTRY = EngineView("weights", _make, needs_gradients=True)
