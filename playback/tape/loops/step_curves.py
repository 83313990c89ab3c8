"""Scalars of a loop as curves over its steps, for the step strip."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from gradscribe.playback.tape.loops.loop_scalars import ScalarSeries
from gradscribe.playback.tape.loops.steps import Steps
from gradscribe.playback.translation import tr

MOST_USUAL = 3
"""Most curves that are drawn before any is chosen."""


class StepCurve(Struct, frozen=True):
    """The numbers of one scalar: ``at`` counts steps, step k reaching from k - 1 to k.

    Both arrays are float64 of the same length; ``at`` ascends.
    """

    name: str
    at: NDArray[np.float64]
    numbers: NDArray[np.float64]
    is_loss: bool = False
    """True if backward began at it."""

    def in_step(self, number: int) -> NDArray[np.float64]:
        """Return the numbers of one step, in order."""
        start, stop = np.searchsorted(self.at, (number - 1, number))
        return self.numbers[start:stop]


def step_curves(steps: Steps, series: Sequence[ScalarSeries]) -> tuple[StepCurve, ...]:
    """Return the series of a tape as curves, in their order.

    Losses of one name on several lines are one curve: the branches of an ``if``. Other series of
    one name are told apart by their lines.
    """
    if not steps.starts:
        return ()
    losses: dict[str, list[ScalarSeries]] = {}
    for one in series:
        if one.backward:
            losses.setdefault(one.name, []).append(one)
    merged = [losses[one.name] if one.backward else [one] for one in series]
    groups = [group for at, group in enumerate(merged) if group not in merged[:at]]
    names = Counter(group[0].name for group in groups)
    return tuple(
        _curve(steps, group, names[group[0].name] > 1) for group in groups if group[0].numbers
    )


def usual_curves(curves: Sequence[StepCurve]) -> tuple[StepCurve, ...]:
    """Return the curves that are drawn before any is chosen: the losses, else the first."""
    losses = [curve for curve in curves if curve.is_loss]
    return tuple(losses[:MOST_USUAL] or curves[:1])


def grown_curves(
    curves: Sequence[StepCurve], series: Sequence[ScalarSeries]
) -> tuple[StepCurve, ...]:
    """Return the losses of a running program with what it has computed since its draft.

    ``curves``: of the draft; ``series``: of the run so far. A loss is left out unless the series
    begins with its numbers, one a step.
    """
    grown = []
    for curve in curves:
        count = len(curve.numbers)
        is_of_steps = np.array_equal(np.ceil(curve.at), np.arange(1, count + 1))
        for one in series if curve.is_loss and is_of_steps else ():
            numbers = np.array(one.numbers, np.float64)
            if len(numbers) > count and np.array_equal(numbers[:count], curve.numbers, True):
                places = np.arange(len(numbers), dtype=np.float64) + 0.5
                grown.append(StepCurve(curve.name, places, numbers, is_loss=True))
                break
    return tuple(grown)


def steps_of_positions(
    steps: Steps, positions: Sequence[int] | NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the step of each of ascending positions, and its share (0 to 1) of that step.

    What was computed several times in a step is spread evenly over it: twice is at 0 and 0.5.
    """
    return _spread(steps.numbers_at(positions))


def steps_of_series(
    steps: Steps, one: ScalarSeries
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the step of each number of a series, and its share of that step."""
    if one.steps:
        return _spread(np.asarray(one.steps, np.int64))
    return steps_of_positions(steps, one.positions)


def _spread(inside: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return steps, and the shares that spread the equal ones evenly."""
    first = np.searchsorted(inside, inside, side="left")
    last = np.searchsorted(inside, inside, side="right")
    return inside, (np.arange(len(inside)) - first) / np.maximum(1, last - first)


def _curve(steps: Steps, group: list[ScalarSeries], with_line: bool) -> StepCurve:
    has_steps = all(one.steps for one in group)
    places = np.concatenate(
        [np.asarray(one.steps if has_steps else one.positions, np.int64) for one in group]
    )
    numbers = np.concatenate([np.asarray(one.numbers, np.float64) for one in group])
    order = np.argsort(places, kind="stable")
    places, numbers = places[order], numbers[order]
    inside, share = _spread(places if has_steps else steps.numbers_at(places))
    size = np.bincount(inside)[inside]
    one = group[0]
    name = tr("{name}, line {line}", name=one.name, line=one.line) if with_line else one.name
    return StepCurve(name, inside - 1 + share + 0.5 / size, numbers, one.backward > 0)
