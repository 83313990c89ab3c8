"""Loops of which only some steps were recorded in full: the numbers of all their steps."""

from bisect import bisect_right

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from gradscribe.engine.protocol.tape import ColumnKind, Gap, StepColumn, StepLoop, Tape


class NumberColumn(Struct, frozen=True):
    """A column of a loop: ``steps`` int64, ascending, and ``numbers`` float64, of one length."""

    kind: ColumnKind
    name: str
    line: int
    value: int | None
    steps: NDArray[np.int64]
    numbers: NDArray[np.float64]

    def at(self, step: int) -> float | None:
        """Return the number of a step; None if it has none."""
        place = int(np.searchsorted(self.steps, step))
        if place < len(self.steps) and self.steps[place] == step:
            return float(self.numbers[place])
        return None

    def latest(self, step: int) -> float | None:
        """Return the last number up to a step; None if there is none."""
        place = bisect_right(self.steps, step)
        return float(self.numbers[place - 1]) if place else None


def main_loop(tape: Tape) -> StepLoop | None:
    """Return the loop with the most steps of those that were recorded in part."""
    return max(tape.step_loops, key=lambda loop: loop.steps, default=None)


def gaps_of(tape: Tape, loop: StepLoop) -> list[tuple[int, Gap]]:
    """Return the gaps of a loop with their events, in order."""
    number = tape.step_loops.index(loop)
    return [
        (at, tape.gaps[event.ref])
        for at, event in enumerate(tape.events)
        if event.kind == "gap" and tape.gaps[event.ref].loop == number
    ]


def numbers_of(column: StepColumn) -> NumberColumn:
    """Return a column as arrays."""
    steps = np.frombuffer(column.steps, "<u4").astype(np.int64)
    numbers = np.frombuffer(column.numbers, "<f8")
    return NumberColumn(column.kind, column.name, column.line, column.value, steps, numbers)
