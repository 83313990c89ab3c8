"""Places on a tape at which playback stops: a line, a node, a change, a NaN, a gradient.

Every place is a position after the event itself, so that what was asked for is what is shown.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence

from gradscribe.engine.protocol.tape import Event, Place, Tape
from gradscribe.playback.tape.index import Index, index_of
from gradscribe.playback.tape.non_finite import bad_snapshots

_PASSED = frozenset(("leave", "accumulate", "end", "gap"))
"""Kinds of events that begin no run of a line."""


def lines_with_stops(tape: Tape | Index) -> frozenset[int]:
    """Return the lines (from 1) on which something was recorded."""
    return frozenset(_line_stops(index_of(tape)))


def stops_of(tape: Tape | Index, lines: Collection[int]) -> Sequence[int]:
    """Return the positions just after each of ``lines`` (from 1) has begun to run, in order.

    A line also stops where a backward pass comes to the nodes of its ops. A line that calls a
    module runs once, though the module's own lines run inside it.
    """
    found = _line_stops(index_of(tape))
    return sorted({at for line in lines for at in found.get(line, ())})


def next_of(stops: Sequence[int], position: int) -> int | None:
    """Return the first of the sorted ``stops`` after ``position``; None without one."""
    found = bisect_right(stops, position)
    return stops[found] if found < len(stops) else None


def last_of(stops: Sequence[int], position: int) -> int | None:
    """Return the last of the sorted ``stops`` before ``position``; None without one."""
    found = bisect_left(stops, position)
    return stops[found - 1] if found else None


def is_among(stops: Sequence[int], position: int) -> bool:
    """Return whether ``position`` is one of the sorted ``stops``."""
    found = bisect_left(stops, position)
    return found < len(stops) and stops[found] == position


def nodes(tape: Tape | Index) -> Sequence[int]:
    """Return the positions after each run of a backward node."""
    return index_of(tape).cached("node stops", lambda index: _of_kind(index, "node"))


def changes(tape: Tape | Index, value: int) -> Sequence[int]:
    """Return the positions at which a tensor gets other numbers, its creation included.

    Of a tensor with a name also those at which the name is given to another tensor.
    """
    index = index_of(tape)
    home = index.first_version(value)
    name = index.values[value].name or index.values[home].name
    found: list[tuple[int, int | None]] = [
        (_end_of_write(index, at), snapshot) for at, snapshot in index.updates.get(home, ())
    ]
    for other in index.tape.values:
        at = index.created_at.get(other.id)
        same = index.first_version(other.id) == home or (name and other.name == name)
        if at is not None and same:
            found.append((at, other.snapshot))
    stops: list[int] = []
    before: int | None = None
    for at, snapshot in sorted(found, key=lambda row: row[0]):
        if snapshot is None or not _are_equal(index, before, snapshot):
            stops.append(at + 1)
        before = snapshot
    return sorted(set(stops))


def gradients(tape: Tape | Index, value: int) -> Sequence[int]:
    """Return the positions at which a gradient of a tensor is complete or set."""
    index = index_of(tape)
    made, home = index.values[value], index.first_version(value)
    if made.node is not None:
        return sorted({at + 1 for at, _ in index.node_runs.get(made.node, ())})
    return sorted(
        {grad.event + 1 for grad in index.grads.get(home, ()) if grad.snapshot is not None}
    )


def nans(tape: Tape | Index) -> Sequence[int]:
    """Return the positions after each event that made or sent a NaN."""
    return index_of(tape).cached("nan stops", _nans)


def _of_kind(index: Index, kind: str) -> list[int]:
    return [at for at, event in enumerate(index.tape.events, 1) if event.kind == kind]


def _end_of_write(index: Index, at: int) -> int:
    """Return the event after which a leaf has what the op at ``at`` wrote through ``.data``."""
    events = index.tape.events
    is_op = events[at].kind == "op" and at + 1 < len(events)
    return at + 1 if is_op and events[at + 1].kind == "write" else at


def _are_equal(index: Index, one: int | None, other: int) -> bool:
    if one is None or one == other:
        return one is not None
    a, b = index.tape.snapshots[one], index.tape.snapshots[other]
    return a.data is not None and (a.data, a.shape, a.dtype) == (b.data, b.shape, b.dtype)


def _nans(index: Index) -> list[int]:
    bad = bad_snapshots(index, "nan")
    if not bad:
        return []
    events = enumerate(index.tape.events, 1)
    return [at for at, event in events if not bad.isdisjoint(_snapshots(index, event))]


def _snapshots(index: Index, event: Event) -> set[int]:
    """Return the numbers of the snapshots that an event made."""
    tape, ref = index.tape, event.ref
    found: set[int | None] = set()
    if event.kind == "leaf":
        found = {index.values[ref].snapshot}
    elif event.kind == "op":
        found = {index.values[made].snapshot for made in tape.ops[ref].outputs}
    elif event.kind == "node":
        execution = tape.executions[ref]
        found = {tape.edges[edge].gradient for edge in execution.edges} | set(execution.received)
    elif event.kind == "accumulate":
        found = {tape.accumulations[ref].after}
    elif event.kind == "grad":
        found = {after for _, after in tape.rewrites[ref]}
    elif event.kind in ("write", "step", "gap"):
        found = {
            index.values[change.after].snapshot
            for change in index.changes(event)
            if change.after in index.values
        }
    return {number for number in found if number is not None}


def _line_stops(index: Index) -> dict[int, list[int]]:
    return index.cached("line stops", lambda index: _LineStops(index).found)


class _LineStops:
    """Finds where each run of a line begins."""

    def __init__(self, index: Index) -> None:
        self.found: dict[int, list[int]] = {}
        self._index = index
        self._lines = [0]
        """The line that runs in each module call around the event, the innermost last."""
        self._seen: set[Place] = set()
        """Places of the ops of the line's run: one that comes again is a new run."""
        self._node_line, self._passes = 0, 0
        for at, event in enumerate(index.tape.events, 1):
            self._read(at, event)

    def _read(self, at: int, event: Event) -> None:
        kind, line = event.kind, event.line
        if kind == "end":
            self._passes = max(0, self._passes - 1)
        elif kind == "leave" and len(self._lines) > 1:
            self._lines.pop()
        if kind in _PASSED or not line:
            return
        if kind == "node":
            if line != self._node_line:
                self._add(at, line)
            self._node_line = line
            return
        if self._begins(event):
            self._add(at, line)
            self._lines[-1] = line
        if kind == "backward":
            self._passes, self._node_line = self._passes + 1, 0
        elif kind == "enter":
            self._lines.append(line)

    def _begins(self, event: Event) -> bool:
        if self._passes and event.kind != "backward":
            # Ops and leaves inside a pass belong to its nodes.
            return False
        place = None
        if event.kind == "op" and len(self._lines) == 1:
            place = self._index.op(event.ref).place
        begins = event.line != self._lines[-1] or place in self._seen
        if begins:
            self._seen = set()
        if place is not None:
            self._seen.add(place)
        return begins

    def _add(self, at: int, line: int) -> None:
        self.found.setdefault(line, []).append(at)
