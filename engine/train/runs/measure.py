"""Measure steps: gradient norms, and update norms relative to the weights' norms."""

import math
import time

import torch

from gradscribe.engine.protocol.training import replies
from gradscribe.engine.train.arrays import to_dense
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.runs.stop_conditions import StopConditions

FIRST, APART = 20, 1.1
"""The first 20 steps of a run are all measured; then steps at distances growing by 10 percent."""


def next_measured_step(step: int) -> int:
    """Return the next step after ``step`` to measure, however fast the run is.

    So a curve over all steps has no gap wider than a tenth of them, and for that a run of a million
    steps is measured only 130 times.
    """
    if step < FIRST:
        return step + 1
    power = math.floor(math.log(step / FIRST, APART))
    while (measured := math.ceil(FIRST * APART**power)) <= step:
        power += 1
    return measured


def advance_measured(run: TrainingRun, goals: StopConditions, count: int, end: float) -> None:
    """Make up to ``count`` steps before ``end``, as many as fit into one message.

    At least one step is made; some are measured.
    """
    last = run.step + min(count, replies.SERIES_STEPS // 2)
    left = end - time.perf_counter()
    while run.step < last and run.problem is None and not goals.reached:
        mark = next_measured_step(run.step)
        if mark > run.step + 1:
            run.advance(min(mark - 1, last) - run.step, left, goals)
        elif not measure_step(run, goals):
            return
        left = end - time.perf_counter()
        if left <= 0:
            return


def measure_step(run: TrainingRun, goals: StopConditions | None = None) -> float:
    """Make one step and record its norms and ratios; return the seconds that measuring took."""
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
    grad_norms = iter(_norms([to_dense(g) for g in grads if g is not None]))
    norms = [math.nan if grad is None else next(grad_norms) for grad in grads]
    moved = _norms([new - old for new, old in zip(now, before, strict=True)])
    sizes = _norms(before)
    ratios = [m / size if size else math.nan for m, size in zip(moved, sizes, strict=True)]
    run.ratios = list(zip(norms, ratios, strict=True))
    run.history.add_norms(run.step, norms, ratios)
    return stepping - begun + time.perf_counter() - stepped


def _norms(tensors: list[torch.Tensor]) -> list[float]:
    """Return the norm of each tensor, in few calls."""
    if not tensors:
        return []
    norms: list[float] = torch.stack(torch._foreach_norm(tensors)).tolist()
    return norms
