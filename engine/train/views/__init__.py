"""Views of a run's current step, computed only on request."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import torch

from engine.setup import Plain
from engine.train import attributes, checkpoints
from engine.train.program import quiet
from engine.train.run import Run
from engine.train.views import channels, maps, numbers, surface
from engine.train.views.arrays import Picture

KINDS: dict[str, Callable[[Run, Mapping[str, Plain]], Picture | None]] = {
    "boundary": maps.boundary,
    "fit": maps.fit,
    "units": channels.units,
    "residuals": maps.residuals,
    "confusion": numbers.confusion,
    "scores": numbers.scores,
    "gradients": numbers.gradients,
    "histograms": numbers.histograms,
    "weights": numbers.weights,
    "optimizer": numbers.optimizer,
    "surface": surface.surface,
}
"""Functions that compute each kind of view; they return None if it does not apply to the run."""


def show(run: Run, kind: str, options: Mapping[str, Plain]) -> Picture | None:
    """Return a view of the run's current step, None if the kind does not apply to it."""
    if kind not in KINDS:
        return None
    with looking(run):
        return KINDS[kind](run, options)


@contextmanager
def looking(run: Run) -> Iterator[None]:
    """Put the run's model into eval mode without gradients.

    On exit the run is exactly as before: weights, modes, generators, attributes of its modules.
    """
    model = run.program.model
    modes = [(module, module.training) for module in model.modules()]
    random = checkpoints.random_state(run.program)
    model.eval()
    try:
        with torch.no_grad(), quiet(), attributes.untouched(run.program):
            yield
    finally:
        for module, training in modes:
            module.training = training
        checkpoints.set_random_state(run.program, random)
