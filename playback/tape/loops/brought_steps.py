"""Steps of a loop that were recorded in full later, by running the program again."""

from collections.abc import Iterator

import numpy as np

from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import StepLoop, Tape
from gradscribe.playback.tape.loops.partial_loops import NumberColumn, numbers_of
from gradscribe.playback.tape.loops.steps import steps_of
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr

COMPARED = ("loss", "scalar")
"""Kinds of columns that have to be the same in both runs."""


class NotRepeated(Exception):
    """The second run is not the first one again; the message says where they differ."""


def with_brought_steps(whole: Tape, part: Tape, line: int, number: int) -> Tape:
    """Return the tape ``part`` of some steps with all else of the ``whole`` run.

    ``line``: of the loop; ``number``: the step that was asked for.

    Raises:
        NotRepeated: the step is not the same step of the same run.
    """
    before = next(loop for loop in whole.step_loops if loop.line == line)
    after = next((loop for loop in part.step_loops if loop.line == line), None)
    if after is None or number not in {step for step, _ in after.full}:
        raise NotRepeated(tr("the program ended before it"))
    for first, second in _pairs(before, after):
        _check(first, second, number)
    offset = len(part.prints)
    steps = steps_of(whole)
    recorded = [
        (steps.number_at(at + 1), event.ref)
        for at, event in enumerate(whole.events)
        if event.kind == "print"
    ]
    prints = tuple((step, at + offset) for step, at in sorted([*before.prints, *recorded]))
    merged = replace(before, full=after.full, prints=prints, steps=max(before.steps, after.steps))
    loops = tuple(merged if loop is after else loop for loop in part.step_loops)
    return replace(
        part,
        step_loops=loops,
        prints=(*part.prints, *whole.prints),
        status=whole.status,
        error=whole.error,
        stdout=whole.stdout,
        stderr=whole.stderr,
        findings=whole.findings,
        figures=whole.figures,
        truncated=whole.truncated,
    )


def _pairs(before: StepLoop, after: StepLoop) -> Iterator[tuple[NumberColumn, NumberColumn]]:
    """Yield the columns of the two runs that have to be the same."""
    again = {(column.kind, column.line): column for column in after.columns}
    for column in before.columns:
        other = again.get((column.kind, column.line))
        if column.kind in COMPARED and other is not None:
            yield numbers_of(column), numbers_of(other)


def _check(first: NumberColumn, second: NumberColumn, number: int) -> None:
    """Raise `NotRepeated` where two columns have other numbers for a step up to ``number``."""
    steps, at_first, at_second = np.intersect1d(first.steps, second.steps, return_indices=True)
    old, new = first.numbers[at_first], second.numbers[at_second]
    same = (old == new) | (np.isnan(old) & np.isnan(new)) | (steps > number)
    if not same.all():
        at = int(np.argmin(same))
        raise NotRepeated(
            tr(
                "its number of line {line} in step {int:,} was {number} and is now {number_2}",
                line=first.line,
                int=int(steps[at]),
                number=formatting.number(float(old[at]), 7),
                number_2=formatting.number(float(new[at]), 7),
            )
        )
