"""Loops of the program's text, and the rounds that the events of a tape make of them."""

from msgspec import Struct

from gradscribe.engine.protocol.tape import Event
from gradscribe.playback.tape.index import Index

MOST_LOOPS = 500
"""Most loops of a text that are followed, and most choices between arms."""
LEAST_ROUNDS = 3
"""Fewest rounds of a loop that are steps."""
OUTSIDE = frozenset(("leaf", "node", "accumulate", "end", "leave", "error"))
"""Kinds of events whose line may be far from what the program is doing."""


class Line(Struct, frozen=True, gc=False):
    """The lines of what an event did, and the columns of an op."""

    first: int
    last: int
    columns: tuple[int, int] = (0, 0)


class LoopText:
    """The loops of a text by their lines; a loop is known by its number in `Tape.loops`."""

    def __init__(
        self,
        loops: tuple[tuple[int, int], ...],
        arms: tuple[tuple[tuple[int, int], ...], ...] = (),
    ) -> None:
        self._loops, self._arms = loops[:MOST_LOOPS], arms[:MOST_LOOPS]
        self._around: dict[int, tuple[int, ...]] = {}
        self._chosen: dict[int, dict[int, int]] = {}
        """Line -> the arm around it of each choice."""

    def around(self, line: int) -> tuple[int, ...]:
        """Return the loops around a line, the outermost first; their headers belong to them."""
        if line not in self._around:
            found = [n for n, (first, last) in enumerate(self._loops) if first <= line <= last]
            found.sort(key=lambda number: self._loops[number][0])
            self._around[line] = tuple(found)
        return self._around[line]

    def exclude(self, line: int, other: int) -> bool:
        """Return whether two lines are in arms of one choice, of which a round takes one."""
        chosen, others = self._arms_of(line), self._arms_of(other)
        return any(others.get(choice, arm) != arm for choice, arm in chosen.items())

    def _arms_of(self, line: int) -> dict[int, int]:
        if line not in self._chosen:
            self._chosen[line] = {
                choice: number
                for choice, arms in enumerate(self._arms)
                for number, (first, last) in enumerate(arms)
                if first <= line <= last
            }
        return self._chosen[line]


def last_line(index: Index, event: Event) -> int:
    """Return the last line of an event: of an op that of its whole expression."""
    if event.kind == "op":
        place = index.op(event.ref).place
        if place.line == event.line:
            return max(place.line, place.end_line)
    return event.line


def line_of(index: Index, event: Event) -> Line:
    """Return the lines of an event: of an op those of its whole expression."""
    if event.kind == "op":
        place = index.op(event.ref).place
        if place.line == event.line:
            columns = place.column, place.end_column
            return Line(event.line, last_line(index, event), columns)
    return Line(event.line, event.line)


def went_back(before: Line, now: Line) -> bool:
    """Return whether the program has gone back from one line to an earlier one.

    An expression of several lines is computed from the inside: it ends above where it was.
    """
    return now.first < before.first and now.last < before.first


def loop_rounds(index: Index) -> tuple[int, ...]:
    """Return the events at which the rounds of the most repeated loop begin; empty without any.

    Only loops with `LEAST_ROUNDS` rounds or more count, and of equal ones the outermost. Loops
    that run backward passes come before those that do not.
    """
    if not index.tape.loops:
        return ()
    text = LoopText(index.tape.loops, index.tape.arms)
    found: dict[int, list[int]] = {}
    seen: dict[int, set[tuple[str, Line]]] = {}
    before, before_at, inside = Line(0, 0), -1, frozenset[int]()
    opened: dict[int, int] = {}
    """The first line of a loop's round."""
    calls: list[int] = []
    passing: set[int] = set()
    for at, event in enumerate(index.tape.events):
        is_inner = bool(calls)
        if event.kind == "backward":
            passing.update(text.around(event.line))
        if event.kind == "enter":
            calls.append(event.ref)
        elif event.kind == "leave" and event.ref in calls:
            del calls[calls.index(event.ref) :]
        in_pass = at in index.events_in_passes and event.kind != "backward"
        if is_inner or event.kind in OUTSIDE or in_pass:
            continue
        now = line_of(index, event)
        around = text.around(now.first)
        if not around:
            continue
        common = [loop for loop in around if loop in inside]
        key = event.kind, now
        again = bool(common) and (
            went_back(before, now)
            or text.exclude(before.first, now.first)
            # Past the first line of a round, a line repeats itself in a comprehension.
            or (before.first == now.first == opened[common[-1]] and key in seen[common[-1]])
        )
        for loop in around:
            if loop not in inside or (again and loop == common[-1]):
                # What a function did for the round came before its first own line.
                found.setdefault(loop, []).append(before_at + 1 if loop in inside else at)
                seen[loop], opened[loop] = set(), now.first
            seen[loop].add(key)
        before, before_at, inside = now, at, frozenset(around)
    return _most_repeated(found, passing)


def _most_repeated(found: dict[int, list[int]], passing: set[int]) -> tuple[int, ...]:
    """Return the rounds of the loop with the most; loops in ``passing`` come first."""
    repeated = {loop: at for loop, at in found.items() if len(at) >= LEAST_ROUNDS}
    of_passes = [at for loop, at in repeated.items() if loop in passing]
    most: list[int] = []
    for rounds in of_passes or repeated.values():
        most = rounds if len(rounds) > len(most) else most
    return tuple(most)
