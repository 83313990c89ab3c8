"""The next update, made by the optimizer and by its formula from the same numbers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.protocol.training.replies import MAX_VIEW_PARAMETERS
from gradscribe.engine.train.arrays import ViewData, to_array, to_dense
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source.program import suppress_warnings
from gradscribe.engine.train.views import limits
from gradscribe.engine.train.views.view import EngineView

State = dict[str, torch.Tensor]
"""The optimizer's state of one parameter."""
Group = Mapping[str, Any]
NO_FORMULA, SGD, ADAM = 0.0, 1.0, 2.0
"""Values of the fact ``kind``."""
SETTINGS = ("lr", "weight_decay", "momentum", "dampening", "nesterov", "maximize", "eps", "amsgrad")


@dataclass
class Update:
    """An update of all parameters: the numbers before, and the weights after it."""

    before: list[torch.Tensor] = field(default_factory=list)
    grads: list[torch.Tensor | None] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    after: list[torch.Tensor] = field(default_factory=list)


def _make(run: TrainingRun, _options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return the numbers of the update that the next step makes; the run stays where it is.

    Arrays, flat over all parameters, in float64: ``before``, ``grad``, ``after``, ``formula``, and
    the state that the formula reads (``momentum_buffer``, ``exp_avg``, ``exp_avg_sq``,
    ``max_exp_avg_sq``); NaN where there is none. Facts: the optimizer's settings, ``kind``, ``t``,
    ``weights`` that were updated, of which ``equal`` are as the formula says to the bit, and the
    largest difference ``apart``. None inside a step, and if there are too many parameters.
    """
    if limits.parameter_count(run) > MAX_VIEW_PARAMETERS or run.events is not None:
        return None
    now, problem = run.state(), run.problem
    losses = cast("list[object]", run.program.names["kept"])
    count = len(losses)
    try:
        update = _next_update(run)
    finally:
        run.load(now)
        run.problem = problem
        del losses[count:]
    optimizer = run.program.optimizer
    group = optimizer.param_groups[0]
    kind, formula = _formula(optimizer)
    facts = {name: float(group[name]) for name in SETTINGS if name in group}
    facts |= {"kind": kind, "decoupled": float(group.get("decoupled_weight_decay", False))}
    if "betas" in group:
        facts["beta1"], facts["beta2"] = map(float, group["betas"])
    made = [_applied(formula, update, at, group) for at in range(len(update.before))]
    facts |= _compared(update, made)
    facts["t"] = max((float(s["step"]) for s in update.states if "step" in s), default=0.0) + 1
    arrays: dict[str, list[Any]] = {
        "before": update.before,
        "grad": update.grads,
        "after": update.after,
        "formula": made,
    }
    names = dict.fromkeys(name for state in update.states for name in state if name != "step")
    arrays |= {name: [state.get(name) for state in update.states] for name in names}
    return ViewData({n: to_array(_flat(t, update.before), "<f8") for n, t in arrays.items()}, facts)


def _next_update(run: TrainingRun) -> Update:
    """Make the next step, and return its last update."""
    program, update = run.program, Update()
    parameters = list(program.model.parameters())

    def note(*_: object) -> None:
        update.before = [p.detach().clone() for p in parameters]
        update.grads = [None if p.grad is None else to_dense(p.grad).clone() for p in parameters]
        states = (program.optimizer.state.get(p, {}) for p in parameters)
        update.states = [
            {n: v.detach().clone() for n, v in state.items() if isinstance(v, torch.Tensor)}
            for state in states
        ]

    def note_result(*_: object) -> None:
        update.after = [p.detach().clone() for p in parameters]

    note()
    hooks = (
        program.optimizer.register_step_pre_hook(note),
        program.optimizer.register_step_post_hook(note_result),
    )
    try:
        with suppress_warnings():
            program.step(run.draw())
    finally:
        for hook in hooks:
            hook.remove()
    if not update.after:
        # An update by hand, or none at all.
        note_result()
        grads = [p.grad if run.setup.manual_update else None for p in parameters]
        update.grads = [None if g is None else to_dense(g).clone() for g in grads]
    return update


def _applied(
    formula: Callable[[torch.Tensor, torch.Tensor, State, Group], torch.Tensor] | None,
    update: Update,
    at: int,
    group: Group,
) -> torch.Tensor | None:
    grad = update.grads[at]
    if formula is None or grad is None:
        return None
    state = {name: value.clone() for name, value in update.states[at].items()}
    return formula(update.before[at].clone(), grad, state, group)


def _compared(update: Update, made: list[torch.Tensor | None]) -> dict[str, float]:
    weights = equal = 0
    apart = 0.0
    for one, after, grad in zip(made, update.after, update.grads, strict=True):
        weights += 0 if grad is None else after.numel()
        if one is not None:
            equal += int((one == after).sum())
            apart = max(apart, (one - after).abs().max().item())
    return {"weights": weights, "equal": equal, "apart": apart}


def _flat(tensors: list[Any], like: list[torch.Tensor]) -> torch.Tensor:
    """Return tensors as one flat vector; NaN for those that are missing."""
    parts = (
        torch.full((shape.numel(),), float("nan"), dtype=torch.float64)
        if tensor is None or tensor.numel() != shape.numel()
        else tensor.detach().reshape(-1).cpu().double()
        for tensor, shape in zip(tensors, like, strict=True)
    )
    return torch.cat(list(parts))


def _formula(
    optimizer: torch.optim.Optimizer,
) -> tuple[float, Callable[[torch.Tensor, torch.Tensor, State, Group], torch.Tensor] | None]:
    match optimizer:
        case torch.optim.SGD():
            return SGD, sgd_formula
        case torch.optim.Adam():
            return ADAM, adam_formula
    return NO_FORMULA, None


@torch.no_grad()
def sgd_formula(w: torch.Tensor, grad: torch.Tensor, state: State, group: Group) -> torch.Tensor:
    """Return w - lr * grad, with weight decay and momentum as far as they are set."""
    grad = -grad if group["maximize"] else grad
    if group["weight_decay"]:
        grad = grad.add(w, alpha=group["weight_decay"])
    if group["momentum"]:
        before = state.get("momentum_buffer")
        share = 1 - group["dampening"]
        buffer = grad if before is None else before.mul(group["momentum"]).add(grad, alpha=share)
        grad = grad.add(buffer, alpha=group["momentum"]) if group["nesterov"] else buffer
    return w.sub(grad, alpha=group["lr"])


@torch.no_grad()
def adam_formula(w: torch.Tensor, grad: torch.Tensor, state: State, group: Group) -> torch.Tensor:
    """Return w - lr * m / (sqrt(v) + eps), m and v freed of their bias towards 0."""
    beta1, beta2 = group["betas"]
    t = state["step"].item() + 1 if "step" in state else 1.0
    grad = -grad if group["maximize"] else grad
    if group["weight_decay"] and group["decoupled_weight_decay"]:
        w = w * (1 - group["lr"] * group["weight_decay"])
    elif group["weight_decay"]:
        grad = grad.add(w, alpha=group["weight_decay"])
    zero = torch.zeros_like(w)
    m = state.get("exp_avg", zero).lerp(grad, 1 - beta1)
    v = state.get("exp_avg_sq", zero).mul(beta2).addcmul(grad, grad, value=1 - beta2)
    if group["amsgrad"]:
        v = torch.maximum(state.get("max_exp_avg_sq", zero), v)
    root = (v.sqrt() / (1 - beta2**t) ** 0.5).add(group["eps"])
    return w.addcdiv(m, root, value=-(group["lr"] / (1 - beta1**t)))


ENTRY = EngineView("update", _make, only_paused=True)
