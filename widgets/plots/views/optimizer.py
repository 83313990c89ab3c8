"""Histograms of the optimizer's state."""

import math

import numpy as np
from numpy.typing import NDArray

from gradscribe.engine.protocol.training import RunStarted, ViewReply, ViewRequest
from gradscribe.engine.protocol.training.replies import MAX_VIEW_PARAMETERS
from gradscribe.playback.translation import tr
from gradscribe.widgets.plots.training_view import SLOW_MS, ShownRun, TrainingView, size_note
from gradscribe.widgets.plots.views.histograms import NOTHING, HistogramGrid, TensorHistogram

CAPTION = tr("optimizer state of each parameter")
NO_STATE = tr("This optimizer has no state")
BINS = 24


def optimizer_histograms(run: ShownRun, view: ViewReply) -> list[TensorHistogram]:
    """Return histograms of the optimizer's state, per kind of state and parameter."""
    found = []
    for name, flat in view.arrays.items():
        numbers = flat.array()
        for parameter in run.begun.parameters if run.begun is not None else ():
            part = numbers[parameter.start : parameter.start + math.prod(parameter.shape)]
            if part.size:
                found.append(histogram_of(f"{name} {parameter.name}", part))
    return found


def histogram_of(name: str, numbers: NDArray[np.float32]) -> TensorHistogram:
    """Return the histogram of the finite ones of ``numbers``."""
    finite = numbers[np.isfinite(numbers)].astype(np.float64)
    if not finite.size:
        return TensorHistogram(name, "weight", np.zeros(0, np.intp), math.nan, math.nan)
    low, high = float(finite.min()), float(finite.max())
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        return TensorHistogram(name, "weight", np.array([finite.size], np.intp), low, high)
    return TensorHistogram(name, "weight", np.histogram(finite, BINS, (low, high))[0], low, high)


def _show(plot: HistogramGrid, run: ShownRun, view: ViewReply) -> None:
    plot.nothing = NOTHING if view.arrays or not view.step else NO_STATE
    plot.show_histograms(optimizer_histograms(run, view))


def _begin(plot: HistogramGrid, begun: RunStarted) -> None:
    plot.show_histograms(())
    plot.set_caption(size_note(begun, MAX_VIEW_PARAMETERS) or CAPTION)


ENTRY = TrainingView(
    tr("State"),
    "numbers",
    40,
    lambda: HistogramGrid(tr("Optimizer state"), CAPTION),
    ("optimizer",),
    wishes=lambda _plot, _run: (ViewRequest("optimizer", SLOW_MS),),
    show=_show,
    clear=lambda plot: plot.show_histograms(()),
    begin=_begin,
)
