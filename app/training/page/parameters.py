"""Parameters of the current run: norms of value, gradient and update, and gradients over steps."""

import math

from gradscribe.app.training.session.state import RunState
from gradscribe.engine.protocol.training import ViewReply
from gradscribe.playback.tape.parameters import SOME, ParameterRow
from gradscribe.widgets.tables.parameter_table import MOST_POINTS


def parameter_rows(run: RunState, view: ViewReply) -> tuple[ParameterRow, ...]:
    """Return the rows of a run's parameters, of the engine's view ``gradients``."""
    if run.begun is None:
        return ()
    columns = [view.arrays[name].array() for name in ("norms", "held", "sizes", "ratios")]
    rows = []
    for at, parameter in enumerate(run.begun.parameters):
        if at >= min(len(column) for column in columns):
            break
        norm, held, size, ratio = (float(column[at]) for column in columns)
        gradient = norm if held else None
        rows.append(
            ParameterRow(
                parameter.name,
                parameter.shape,
                size,
                gradient,
                None if math.isnan(ratio) else ratio,
                # The engine sends norms alone: a number that is not finite makes its norm so.
                0 if math.isfinite(size) and math.isfinite(gradient or 0.0) else SOME,
                _course(run, parameter.name),
            )
        )
    return tuple(rows)


def _course(run: RunState, name: str) -> tuple[float, ...]:
    """Return the mean norm of the gradient in each of equal stretches of steps."""
    series = run.curve(f"grad:{name}")
    if not len(series):
        return ()
    _, numbers = series.summary(series.first, series.last, MOST_POINTS)
    return tuple(map(float, numbers[2]))
