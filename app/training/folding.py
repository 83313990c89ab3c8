"""Messages of the engine into the curves of a run."""

import numpy as np

from app.training.state import Run
from engine.training import Series


def take_series(run: Run, message: Series) -> None:
    """Add a stretch of every curve; ``after`` takes back what a rewind forgot."""
    if message.after is not None:
        for curve in run.series.values():
            curve.cut(message.after + 1)
    steps, values = message.steps.array(), message.values.array()
    names = run.begun.series if run.begun is not None else ()
    for column, name in enumerate(names[: values.shape[1] if values.ndim == 2 else 0]):
        numbers = values[:, column]
        # A loss that is NaN is news; that of step 0, where no batch has been seen, is none.
        told = steps > 0 if name == "loss" else ~np.isnan(numbers)
        if told.any():
            run.curve(name).extend(steps[told], numbers[told])
    if steps.size:
        run.furthest = max(run.furthest, int(steps[-1]))


def after_rewind(run: Run, source: Run) -> None:
    """Give a run that branched off the curves of its source up to that step."""
    for name, curve in source.series.items():
        run.series[name] = curve.upto(curve.index(source.step + 1))
