"""Reducer of the engine's messages into the state of a run."""

from collections.abc import Mapping

import numpy as np

from gradscribe.app.training.session.state import RunState
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.training import (
    RunStarted,
    SeriesChunk,
    SetupChanged,
    SetupRestored,
    TrainProblem,
    TrainState,
    ViewReply,
)
from gradscribe.widgets.plots import step_series
from gradscribe.widgets.plots.spread_table import SpreadTable

RETAINED = ("loss", "val")
"""The curves that are retained past a rewind, to compare runs by."""


def clear_curves(run: RunState, message: RunStarted, is_anew: bool) -> None:
    """Clear the curves of a run that starts; a fork that is not ``is_anew`` has copied some."""
    run.series, run.ahead = {} if is_anew else run.series, {}
    run.spread = SpreadTable() if is_anew else run.spread
    run.furthest = message.parent_step


def apply_started(run: RunState, message: RunStarted) -> None:
    """Note that a run started, restarted or was restored."""
    run.begun, run.problem, run.advice = message, "", ()
    run.happened.clear()
    run.views.clear()


def apply_state(run: RunState, message: TrainState) -> bool:
    """Set the state of a run; return True if that ends the events inside a step."""
    was, before = run.step, run.state
    run.state = message
    run.furthest = max(run.furthest, message.step)
    is_over = message.event == 0 and bool(run.happened) and message.step != was
    if is_over:
        run.happened.clear()
    run.alive = run.alive and message.status != "gone"
    if message.problem is not None:
        run.problem = message.problem.message
    elif before is not None and before.problem is not None:
        run.problem = ""
    return is_over


def apply_lines(run: RunState, message: SetupChanged | SetupRestored) -> None:
    """Set the lines and class names of a run whose setup changed."""
    if run.begun is not None and message.lines:
        run.begun = replace(run.begun, lines=message.lines, classes=message.classes)


def apply_death(run: RunState, why: str) -> None:
    """Note that the engine of a run died."""
    run.alive = False
    run.problem = why
    if run.state is not None:
        run.state = replace(run.state, status="gone", rate=0.0)


def problem_text(message: TrainProblem) -> str:
    """Return the text of a problem, with its line and its hint."""
    words, line = message.problem.message, message.problem.place.line
    if message.place == "model.source" and line and not words.startswith("line "):
        words = f"line {line}: {words}"
    return f"{words} — {message.problem.hint}" if message.problem.hint else words


def apply_series(run: RunState, message: SeriesChunk) -> None:
    """Append to every curve; ``after`` drops the steps that a rewind took back."""
    if message.after is not None:
        _remember(run, message.after)
        for curve in run.series.values():
            curve.cut(message.after + 1)
        run.spread.cut(message.after + 1)
    steps, values = message.steps.array(), message.values.array()
    names = run.begun.series if run.begun is not None else ()
    for column, name in enumerate(names[: values.shape[1] if values.ndim == 2 else 0]):
        numbers = values[:, column]
        # A NaN loss is kept: it is a result. At step 0 there is none, as no batch was seen.
        known = steps > 0 if name == "loss" else ~np.isnan(numbers)
        if known.any():
            if name == "loss":
                _compare(run, steps[known], numbers[known])
            run.curve(name).extend(steps[known], numbers[known])
    if steps.size:
        run.furthest = max(run.furthest, int(steps[-1]))


def _remember(run: RunState, step: int) -> None:
    """Retain the curves past a rewind, unless those of a run that went further are retained."""
    loss = run.series.get("loss")
    if loss is None or not len(loss) or loss.last <= step:
        return
    if not run.ahead or run.ahead["loss"].last < loss.last:
        held = {name: run.series[name] for name in RETAINED if name in run.series}
        run.ahead = {name: curve.upto(len(curve)) for name, curve in held.items()}


def _compare(run: RunState, steps: np.ndarray, losses: np.ndarray) -> None:
    """Drop the retained curves once the run has come as far, or differs from them."""
    before = run.ahead.get("loss")
    if before is None:
        return
    start, stop = before.index(steps[0]), before.index(steps[-1] + 1)
    # A curve from a file may be thinned to every second step, or every fourth.
    _, old, new = np.intersect1d(before.steps(start, stop), steps, return_indices=True)
    was, now = before.numbers(start, stop)[old], losses[new].astype(np.float32)
    if steps[-1] >= before.last or not np.array_equal(was, now, equal_nan=True):
        run.ahead = {}


def retained_past(
    ahead: Mapping[str, step_series.StepSeries], step: int
) -> dict[str, step_series.StepSeries]:
    """Return the retained curves of a run, if they go past the current ``step``."""
    held = {name: ahead[name] for name in RETAINED if name in ahead}
    return held if "loss" in held and held["loss"].last > step else {}


def apply_view(run: RunState, message: ViewReply) -> None:
    """Store a view; the table of the spread over time gets a row.

    A view of steps that a rewind has taken back meanwhile gives none.
    """
    run.views[message.kind] = message
    if message.kind == "spread" and message.step <= run.step:
        run.spread.add(message)


def copy_curves_to_fork(run: RunState, source: RunState) -> None:
    """Copy the curves of ``source`` up to its current step into a fork."""
    for name, curve in source.series.items():
        run.series[name] = curve.upto(curve.index(source.step + 1))
    run.spread = source.spread.upto(source.step)
