"""What can be seen of a run: pictures of its present step, made only when they are wanted."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch

from engine.setup import Plain
from engine.train import checkpoints
from engine.train.program import quiet
from engine.train.run import Run
from engine.train.views import maps, numbers, surface
from engine.train.views.arrays import Picture


class Kind(NamedTuple):
    """How a view is made, and the share of the trainer's time that it may take."""

    show: Callable[[Run, Mapping[str, Plain]], Picture | None]
    share: float = 0.004


STALE_S = 1.5
MOST = 0.04
"""The greatest share of the time that a view takes for the sake of `STALE_S`."""

KINDS = {
    "boundary": Kind(maps.boundary, 0.05),
    "fit": Kind(maps.fit),
    "units": Kind(maps.units, 0.05),
    "residuals": Kind(maps.residuals),
    "confusion": Kind(numbers.confusion),
    "scores": Kind(numbers.scores),
    "gradients": Kind(numbers.gradients),
    "histograms": Kind(numbers.histograms),
    "weights": Kind(numbers.weights),
    "optimizer": Kind(numbers.optimizer),
    "surface": Kind(surface.surface, 0.01),
}


def pause(kind: str, cost_s: float, every_s: float) -> float:
    """Return for how many seconds a view that took ``cost_s`` is not made again.

    Its share of the time decides, but nobody waits longer than `STALE_S` for a cheap picture: the
    first of its kind costs far more than those that follow.
    """
    longest = max(STALE_S, cost_s / MOST)
    return max(every_s, min(cost_s / KINDS[kind].share, longest))


def show(run: Run, kind: str, options: Mapping[str, Plain]) -> Picture | None:
    """Return a picture of the run's present step, None where the kind does not apply to it.

    The run is left exactly as it was: weights, mode, generators.
    """
    if kind not in KINDS:
        return None
    model = run.program.model
    modes = [(module, module.training) for module in model.modules()]
    random = checkpoints.random_state(run.program)
    model.eval()
    try:
        with torch.no_grad(), quiet():
            return KINDS[kind].show(run, options)
    finally:
        for module, training in modes:
            module.training = training
        checkpoints.set_random_state(run.program, random)
