"""A step with what it did beside its loss: gradient norms, and updates by their weights."""

import math
import time

import torch

from engine.train.goals import Goals
from engine.train.run import Run
from engine.train.views.arrays import dense


def measure(run: Run, goals: Goals | None = None) -> float:
    """Make one step and note its norms and ratios; returns how many seconds the noting took."""
    if run.problem is not None:
        return 0.0
    begun, step = time.perf_counter(), run.step
    now = [p.detach() for p in run.program.model.parameters()]
    before = [p.clone() for p in now]
    stepping = time.perf_counter()
    run.advance(1, goals=goals)
    stepped = time.perf_counter()
    if run.step == step:
        return 0.0
    grads = [p.grad for p in run.program.model.parameters()]
    found = iter(_norms([dense(g) for g in grads if g is not None]))
    norms = [math.nan if grad is None else next(found) for grad in grads]
    moved = _norms([new - old for new, old in zip(now, before, strict=True)])
    sizes = _norms(before)
    ratios = [m / size if size else math.nan for m, size in zip(moved, sizes, strict=True)]
    run.ratios = list(zip(norms, ratios, strict=True))
    run.history.measured(run.step, norms, ratios)
    return stepping - begun + time.perf_counter() - stepped


def _norms(tensors: list[torch.Tensor]) -> list[float]:
    """Return the norm of each, in few calls."""
    if not tensors:
        return []
    norms: list[float] = torch.stack(torch._foreach_norm(tensors)).tolist()
    return norms
