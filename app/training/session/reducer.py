"""Reducer of the engine's messages into the state of a run."""

from collections.abc import Mapping

import numpy as np

from gradscribe.app.training.session.state import Flag, RunState
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
from gradscribe.playback.translation import tr, translated
from gradscribe.widgets.plots import step_series
from gradscribe.widgets.plots.spread_table import SpreadTable
from gradscribe.widgets.plots.step_series import StepSeries

MOST_AHEAD = 500
"""Curves of a run up to which all are saved past a rewind; of more, only `RETAINED`."""
RETAINED = ("loss", "val")


def clear_curves(run: RunState, message: RunStarted, is_anew: bool) -> None:
    """Clear the curves of a run that starts; a fork that is not ``is_anew`` has copied some."""
    run.series, run.ahead = {} if is_anew else run.series, {}
    run.flags, run.flags_ahead = [] if is_anew else run.flags, []
    run.setup_ahead, run.aim, run.rewinds = None, None, 0
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
        run.problem = translated(message.problem.message)
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
    run.aim, run.rewinds, run.restarts_with = None, 0, None
    run.sent.clear()
    if run.state is not None:
        run.state = replace(run.state, status="gone", rate=0.0)


def problem_text(message: TrainProblem) -> str:
    """Return the text of a problem, with its line and its hint."""
    words, line = translated(message.problem.message), message.problem.place.line
    if message.place == "model.source" and line and not message.problem.message.startswith("line "):
        words = tr("line {line}: {words}", line=line, words=words)
    return f"{words} — {translated(message.problem.hint)}" if message.problem.hint else words


def apply_series(run: RunState, message: SeriesChunk) -> dict[str, StepSeries]:
    """Append to every curve; ``after`` sets later steps aside, ``until`` brings them back.

    Returns the curves from before a rewind if the new steps differ from them, else none.
    """
    if message.after is not None:
        _set_aside(run, message.after)
    steps, values = message.steps.array(), message.values.array()
    names = run.begun.series if run.begun is not None else ()
    lost: dict[str, StepSeries] = {}
    for column, name in enumerate(names[: values.shape[1] if values.ndim == 2 else 0]):
        numbers = values[:, column]
        # A NaN loss is kept: it is a result. At step 0 there is none, as no batch was seen.
        known = steps > 0 if name == "loss" else ~np.isnan(numbers)
        if known.any():
            if name == "loss":
                lost = _compare(run, steps[known], numbers[known])
            run.curve(name).extend(steps[known], numbers[known])
    if steps.size:
        run.furthest = max(run.furthest, int(steps[-1]))
    if lost:
        run.furthest = int(steps[-1])
    if message.until is not None:
        place_at(run, message.until)
    if message.after is not None or message.until is not None:
        run.note_rewind()
    return lost


def _set_aside(run: RunState, step: int) -> None:
    """Set the curves past a rewind aside, unless those of a run that went further are."""
    run.turns += 1
    loss = run.series.get("loss")
    if loss is not None and len(loss) and loss.last > step:
        if not run.ahead or run.ahead["loss"].last < loss.last:
            run.ahead = {name: curve.upto(len(curve)) for name, curve in run.series.items()}
            run.spread_ahead, run.flags_ahead = run.spread.upto(run.spread.last), []
        known = {at for at, _ in run.flags_ahead}
        run.flags_ahead += [flag for flag in run.flags if flag[0] > step and flag[0] not in known]
    run.flags = [flag for flag in run.flags if flag[0] <= step]
    _cut(run, step)


def _cut(run: RunState, step: int) -> None:
    for curve in run.series.values():
        curve.cut(step + 1)
    run.spread.cut(step + 1)


def place_at(run: RunState, step: int) -> None:
    """Let the curves end at ``step``: those after it are set aside, those up to it come back."""
    if run.ahead and "loss" in run.series and run.series["loss"].last < step:
        run.turns += 1
        run.series |= {name: curve.upto(curve.index(step + 1)) for name, curve in run.ahead.items()}
        run.spread = run.spread_ahead.upto(step)
        back = [flag for flag in run.flags_ahead if flag[0] <= step and flag not in run.flags]
        run.flags = sorted([*run.flags, *back])
        run.flags_ahead = [flag for flag in run.flags_ahead if flag[0] > step]
        if run.ahead["loss"].last <= step:
            run.ahead, run.flags_ahead, run.setup_ahead = {}, [], None
    else:
        _set_aside(run, step)


def _compare(run: RunState, steps: np.ndarray, losses: np.ndarray) -> dict[str, StepSeries]:
    """Drop the curves from before a rewind once the run has come as far.

    If it differs from them, return them.
    """
    before = run.ahead.get("loss")
    if before is None:
        return {}
    start, stop = before.index(steps[0]), before.index(steps[-1] + 1)
    # A curve from a file may be thinned to every second step, or every fourth.
    _, old, new = np.intersect1d(before.steps(start, stop), steps, return_indices=True)
    was, now = before.numbers(start, stop)[old], losses[new].astype(np.float32)
    is_same = np.array_equal(was, now, equal_nan=True)
    lost = {} if is_same else run.ahead
    if not is_same or steps[-1] >= before.last:
        run.ahead, run.flags_ahead, run.setup_ahead = {}, [], None
    return lost


def curves_at(
    run: RunState, step: int
) -> tuple[dict[str, StepSeries], dict[str, StepSeries], list[Flag]]:
    """Return copies of the curves of a run up to ``step``, of those past it, and all flags."""
    source, loss = run.series, run.series.get("loss")
    if run.ahead and (loss is None or loss.last < step):
        source = run.ahead
    curves = {name: curve.upto(curve.index(step + 1)) for name, curve in source.items()}
    ahead = {name: curve.upto(len(curve)) for name, curve in run.ahead.items()}
    past = retained_past(ahead, step)
    last = past["loss"].last if past else step
    flags = [flag for flag in (*run.flags, *run.flags_ahead) if flag[0] <= last]
    return curves, past, flags


def retained_past(
    ahead: Mapping[str, step_series.StepSeries], step: int
) -> dict[str, step_series.StepSeries]:
    """Return the curves from before a rewind, if they go past the current ``step``."""
    names = RETAINED if len(ahead) > MOST_AHEAD else ahead
    held = {name: ahead[name] for name in names if name in ahead}
    return held if "loss" in held and held["loss"].last > step else {}


def apply_view(run: RunState, message: ViewReply) -> None:
    """Store a view; the table of the spread over time gets a row.

    A view of steps that a rewind has taken back meanwhile gives none.
    """
    run.views[message.kind] = message
    if message.kind == "spread" and message.step <= run.step:
        run.spread.add(message)


def copy_curves_to_fork(run: RunState, source: RunState, step: int) -> None:
    """Copy the curves of ``source`` up to ``step`` into a fork."""
    for name, curve in source.series.items():
        run.series[name] = curve.upto(curve.index(step + 1))
    run.spread = source.spread.upto(step)
    run.flags = [flag for flag in source.flags if flag[0] <= step]
