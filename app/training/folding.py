"""Messages of the engine into the curves of a run."""

from collections.abc import Mapping

import numpy as np

from app.training.state import Run
from engine.training import Series
from widgets.plots import series

COMPARED = ("loss", "val")
"""The curves by which runs are compared."""


def take_series(run: Run, message: Series) -> None:
    """Add a stretch of every curve; ``after`` takes back what a rewind forgot."""
    if message.after is not None:
        _remember(run, message.after)
        for curve in run.series.values():
            curve.cut(message.after + 1)
    steps, values = message.steps.array(), message.values.array()
    names = run.begun.series if run.begun is not None else ()
    for column, name in enumerate(names[: values.shape[1] if values.ndim == 2 else 0]):
        numbers = values[:, column]
        # A loss that is NaN is news; that of step 0, where no batch has been seen, is none.
        told = steps > 0 if name == "loss" else ~np.isnan(numbers)
        if told.any():
            if name == "loss":
                _compare(run, steps[told], numbers[told])
            run.curve(name).extend(steps[told], numbers[told])
    if steps.size:
        run.furthest = max(run.furthest, int(steps[-1]))


def _remember(run: Run, step: int) -> None:
    """Set aside the curves past a step that the run goes back to, where it was never further."""
    loss = run.series.get("loss")
    if loss is None or not len(loss) or loss.last <= step:
        return
    if not run.ahead or run.ahead["loss"].last < loss.last:
        held = {name: run.series[name] for name in COMPARED if name in run.series}
        run.ahead = {name: curve.upto(len(curve)) for name, curve in held.items()}


def _compare(run: Run, steps: np.ndarray, losses: np.ndarray) -> None:
    """Forget what was set aside once the run has come as far, or goes otherwise than before."""
    before = run.ahead.get("loss")
    if before is None:
        return
    start, stop = before.index(steps[0]), before.index(steps[-1] + 1)
    # Of one that comes out of a file there may be every second step only, or every fourth.
    _, old, new = np.intersect1d(before.steps(start, stop), steps, return_indices=True)
    was, now = before.numbers(start, stop)[old], losses[new].astype(np.float32)
    if steps[-1] >= before.last or not np.array_equal(was, now, equal_nan=True):
        run.ahead = {}


def ahead_of_step(ahead: Mapping[str, series.Series], step: int) -> dict[str, series.Series]:
    """Return curves that were set aside of a run, if they go on past the step it stands at."""
    held = {name: ahead[name] for name in COMPARED if name in ahead}
    return held if "loss" in held and held["loss"].last > step else {}


def after_rewind(run: Run, source: Run) -> None:
    """Give a run that branched off the curves of its source up to that step."""
    for name, curve in source.series.items():
        run.series[name] = curve.upto(curve.index(source.step + 1))
