"""The optimizer's state."""

from collections.abc import Mapping

import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.protocol.training.replies import MAX_VIEW_PARAMETERS
from gradscribe.engine.train.arrays import ViewData, to_array
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.views import limits
from gradscribe.engine.train.views.view import EngineView


def _make(run: TrainingRun, _options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return each state, such as ``exp_avg``, as one flat float32 vector over all parameters.

    None if there are too many to send.
    """
    if limits.parameter_count(run) > MAX_VIEW_PARAMETERS:
        return None
    instance, state = run.program.optimizer, run.program.optimizer.state
    names: dict[str, None] = {}
    for memory in state.values():
        names.update({k: None for k, v in memory.items() if isinstance(v, torch.Tensor)})
    arrays, facts = {}, {"lr": float(instance.param_groups[0]["lr"])}
    for name in names:
        parts = [
            state[p][name].reshape(-1).float().cpu()
            if isinstance(state.get(p, {}).get(name), torch.Tensor)
            and state[p][name].numel() == p.numel()
            else torch.full((p.numel(),), float("nan"))
            for p in run.program.model.parameters()
        ]
        flat = torch.cat(parts)
        if not bool(flat.isnan().all()):
            arrays[name] = to_array(flat)
    for memory in state.values():
        step = memory.get("step")
        if step is not None:
            facts["step"] = float(step)
    arrays.pop("step", None)
    return ViewData(arrays, facts)


ENTRY = EngineView("optimizer", _make, needs_optimizer_state=True)
