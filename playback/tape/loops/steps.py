"""Steps of a tape, the rounds of its loop: what was printed and which rates changed in them."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from gradscribe.engine.protocol.tape import StepLoop, Tape
from gradscribe.playback.tape.index import Index, index_of
from gradscribe.playback.tape.loops.partial_loops import gaps_of, main_loop, numbers_of
from gradscribe.playback.tape.loops.rounds import loop_rounds
from gradscribe.playback.tape.scenes import scenes

EventKey = tuple[object, ...]
"""Identity of an event within its step: the same in every step that does the same."""


class RateChange(Struct, frozen=True):
    """A learning rate that an optimizer has from one step on."""

    step: int
    optimizer: str
    before: float
    after: float


class Steps:
    """The steps of a tape, numbered from 1; a tape without a loop has none.

    A position belongs to the step of the event before it. The first step also has what comes
    before the loop, the last what comes after it. Steps that were not recorded in full share the
    event of their gap.
    """

    def __init__(
        self,
        starts: tuple[int, ...],
        length: int,
        lasts: tuple[int, ...] = (),
        gaps: frozenset[int] = frozenset(),
        count: int = 0,
    ) -> None:
        """Take the starts of steps and gaps.

        ``lasts``: the last step of each start, if several share one; ``gaps``: the places of gaps
        among the starts; ``count``: number of all steps.
        """
        self.starts = starts if len(starts) > 1 else ()
        """The event at which each step, or each gap, begins; the first is 0."""
        self.length = length
        """Number of events of the tape."""
        self._lasts = lasts or tuple(range(1, len(self.starts) + 1))
        self._gaps = gaps
        self._count = max(count, self._lasts[-1]) if self.starts else 0

    def __len__(self) -> int:
        return self._count

    def number_at(self, position: int) -> int:
        """Return the step of a position, after a gap its last; 0 if there are no steps."""
        if not self.starts:
            return 0
        return self._lasts[max(1, bisect_left(self.starts, position)) - 1]

    def numbers_at(self, positions: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the step of each of these positions."""
        starts = np.array(self.starts, np.int64)
        places = np.searchsorted(starts, np.array(positions, np.int64), side="left")
        numbers: NDArray[np.int64] = np.array(self._lasts, np.int64)[np.maximum(1, places) - 1]
        return numbers

    def is_full(self, number: int) -> bool:
        """Return whether a step was recorded in full."""
        place = self._place(number)
        return place not in self._gaps and number <= self._lasts[place]

    def full_ranges(self) -> list[tuple[int, int]]:
        """Return the first and last step of each run of steps that were recorded in full."""
        found: list[tuple[int, int]] = []
        for place, last in enumerate(self._lasts):
            if place in self._gaps:
                continue
            if found and found[-1][1] == last - 1:
                found[-1] = found[-1][0], last
            else:
                found.append((last, last))
        return found

    def span(self, number: int) -> tuple[int, int]:
        """Return the first event of a step, or of the gap it is in, and the end of its events."""
        place = self._place(number)
        stop = self.starts[place + 1] if place + 1 < len(self.starts) else self.length
        return self.starts[place], stop

    def ends_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the end of the events of each of these steps; of a left-out step of its gap."""
        stops = np.array([*self.starts[1:], self.length], np.int64)
        places = np.searchsorted(np.array(self._lasts, np.int64), numbers)
        ends: NDArray[np.int64] = stops[np.minimum(places, len(stops) - 1)]
        return ends

    def _place(self, number: int) -> int:
        return min(bisect_left(self._lasts, number), len(self._lasts) - 1)


def steps_of(tape: Tape | Index) -> Steps:
    """Return the steps of a tape: its scenes, else the rounds of its most repeated loop."""
    return index_of(tape).cached("steps", _steps)


def _steps(index: Index) -> Steps:
    loop = main_loop(index.tape)
    if loop is not None:
        return _partial_steps(index, loop)
    starts = tuple(scene.start for scene in scenes(index))
    if len(starts) == 1 and (rounds := loop_rounds(index)):
        starts = (0, *rounds[1:])
    return Steps(starts, len(index.tape.events))


def _partial_steps(index: Index, loop: StepLoop) -> Steps:
    """Return the steps of a loop that was recorded in part: of each gap, those up to its last."""
    found = {at: step for step, at in loop.full}
    found |= {at: gap.last for at, gap in gaps_of(index.tape, loop)}
    starts = sorted(found)
    lasts = tuple(found[at] for at in starts)
    full = {at for _, at in loop.full}
    gaps = frozenset(place for place, at in enumerate(starts) if at not in full)
    return Steps((0, *starts[1:]), len(index.tape.events), lasts, gaps, loop.steps)


def same_event(tape: Tape | Index, position: int, number: int) -> int:
    """Return the position right after the same event in the step ``number``.

    The end of a step leads to the end of the other. An event that the other step lacks leads to
    the next one that it has; the start of the tape leads to the first event of the step.
    """
    index = index_of(tape)
    steps = steps_of(index)
    if not steps.starts:
        return position
    number = min(max(1, number), len(steps))
    here = steps.number_at(position)
    start, stop = steps.span(here)
    first, end = steps.span(number)
    if number == here:
        return position
    if position == stop:
        return end
    other = {key: at for at, key in keyed_events(index, first, end)}
    for at, key in keyed_events(index, start, stop):
        if at >= position - 1 and key in other:
            # Past an event that is missing there, the next must not have happened yet.
            return max(first + 1, other[key] + (at == position - 1))
    return end


def keyed_events(index: Index, start: int, stop: int) -> Iterator[tuple[int, EventKey]]:
    """Yield the events of a step, each with what makes it the same event in another step."""
    counts: dict[EventKey, int] = {}
    for at in range(start, stop):
        key = event_key(index, at)
        counts[key] = number = counts.get(key, 0) + 1
        yield at, (*key, number)


def event_key(index: Index, at: int) -> EventKey:
    """Return what an event does: its kind, its line, and the op, node or leaf it is about."""
    tape, event = index.tape, index.tape.events[at]
    kind, ref, line = event.kind, event.ref, event.line
    if kind == "op":
        return kind, line, index.op(ref).place, index.op(ref).op
    if kind == "node":
        execution = tape.executions[ref]
        node = index.nodes[execution.node]
        place = index.op(node.op).place if node.op is not None else None
        return kind, tape.passes[execution.run].line, node.name, place
    if kind == "leaf":
        value = index.values[ref]
        return kind, line, value.name, value.maker, value.place
    if kind == "accumulate":
        added = tape.accumulations[ref]
        leaf = index.values[added.leaf]
        return kind, tape.passes[added.run].line, leaf.name or leaf.place
    if kind in ("enter", "leave"):
        return kind, line, tape.calls[ref].name
    return kind, line


LONGEST_PRINT = 60
"""Most characters of a printed line that are noted."""


class StepMarks(Struct, frozen=True):
    """The steps in which lines were printed, and the changes of learning rates."""

    printed: dict[int, str] = {}
    """Step -> the first line that it printed."""
    rates: tuple[RateChange, ...] = ()

    def rates_in(self, number: int) -> tuple[RateChange, ...]:
        """Return the changes of rates in a step."""
        start = bisect_left(self.rates, number, key=lambda change: change.step)
        stop = bisect_left(self.rates, number + 1, key=lambda change: change.step)
        return self.rates[start:stop]


def step_marks(tape: Tape | Index) -> StepMarks:
    """Return the marks of a tape's steps."""
    return index_of(tape).cached("step marks", _marks)


def _rates(loop: StepLoop) -> list[RateChange]:
    """Return the changes of the rates of a loop that was recorded in part."""
    found: list[RateChange] = []
    for column in map(numbers_of, loop.columns):
        if column.kind == "rate":
            for at in np.flatnonzero(np.diff(column.numbers)):
                before, after = float(column.numbers[at]), float(column.numbers[at + 1])
                found.append(RateChange(int(column.steps[at + 1]), column.name, before, after))
    return sorted(found, key=lambda change: change.step)


def _marks(index: Index) -> StepMarks:
    steps = steps_of(index)
    if not steps.starts:
        return StepMarks()
    printed: dict[int, str] = {}
    rates: list[RateChange] = []
    known: dict[tuple[str, int], float] = {}
    for at, event in enumerate(index.tape.events):
        if event.kind == "print":
            text = index.tape.prints[event.ref].strip().partition("\n")[0]
            printed.setdefault(steps.number_at(at + 1), text[:LONGEST_PRINT])
        elif event.kind == "step":
            made = index.tape.steps[event.ref]
            if made.lr is None:
                continue
            key = made.optimizer, made.held
            before = known.get(key, made.lr)
            known[key] = made.lr
            if before != made.lr:
                rates.append(RateChange(steps.number_at(at + 1), made.optimizer, before, made.lr))
    loop = main_loop(index.tape)
    if loop is not None:
        for step, line in loop.prints:
            printed.setdefault(step, index.tape.prints[line].strip()[:LONGEST_PRINT])
        rates = _rates(loop)
    return StepMarks(printed, tuple(rates))
