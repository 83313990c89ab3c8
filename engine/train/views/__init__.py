"""Views of a run's current step, computed only on request."""

from collections.abc import Callable, Mapping

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.train.arrays import ViewData
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.user_module import attributes
from gradscribe.engine.train.views import channels, maps, statistics, surface

KINDS: dict[str, Callable[[TrainingRun, Mapping[str, JsonValue]], ViewData | None]] = {
    "boundary": maps.boundary,
    "fit": maps.fit,
    "units": channels.units,
    "residuals": maps.residuals,
    "confusion": statistics.confusion,
    "scores": statistics.scores,
    "gradients": statistics.gradients,
    "histograms": statistics.histograms,
    "weights": statistics.weights,
    "optimizer": statistics.optimizer,
    "surface": surface.surface,
}
"""Functions that compute each kind of view; they return None if it does not apply to the run."""


def compute(run: TrainingRun, kind: str, options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return a view of the run's current step, None if the kind does not apply to it."""
    if kind not in KINDS:
        return None
    with attributes.evaluating(run.program):
        return KINDS[kind](run, options)
