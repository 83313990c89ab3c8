"""What the line that runs changes: every named tensor before it and after it."""

from msgspec import Struct

from engine.tape import Snapshot, Tape
from playback import short, text, words
from playback.index import Index, index_of
from playback.lessons.places import line_runs
from playback.track import NONE, value_rows


class Span(Struct, frozen=True):
    """One run of one line: events ``start`` to ``stop`` (exclusive)."""

    line: int
    start: int
    stop: int


class StateRow(Struct, frozen=True):
    """A tensor around a line: its value and its gradient, each before and after.

    Empty where it was not there yet, an em dash where it has no gradient.
    """

    name: str
    value_id: int
    before: str
    after: str
    grad_before: str
    grad_after: str

    @property
    def value_changes(self) -> bool:
        """Whether the line gives it another value, or makes it."""
        return self.before != self.after

    @property
    def grad_changes(self) -> bool:
        """Whether the line changes its gradient."""
        return self.grad_before != self.grad_after and bool(self.grad_after)


def span_at(tape: Tape | Index, position: int) -> Span | None:
    """Return the run of the line that the latest event belongs to; None before the first event."""
    if position <= 0:
        return None
    index = index_of(tape)
    runs = line_runs(index)
    low, high = 0, len(runs) - 1
    if high < 0:
        return None
    while low < high:
        middle = (low + high + 1) // 2
        if runs[middle][1] < position:
            low = middle
        else:
            high = middle - 1
    return Span(*runs[low])


def next_line(tape: Tape | Index, position: int) -> int:
    """Return the position at the end of the line that runs next, or of the one that is running."""
    index = index_of(tape)
    for _, start, stop in line_runs(index):
        if stop > position >= start or start >= position:
            return stop
    return len(index.tape.events)


def line_before(tape: Tape | Index, position: int) -> int:
    """Return the position where the line that is done, or is running, had not begun."""
    span = span_at(tape, position)
    return span.start if span is not None else 0


def states(tape: Tape | Index, position: int) -> tuple[StateRow, ...]:
    """Return every named tensor before and after the line that is running; changed ones first."""
    index = index_of(tape)
    span = span_at(index, position)
    if span is None:
        return ()
    before = {row.name: row for row in value_rows(index, span.start)}
    found = []
    for row in value_rows(index, span.stop):
        old = before.get(row.name)
        at_first = index.snapshot(_shown(index, old.value_id, span.start)) if old else None
        at_last = index.snapshot(_shown(index, row.value_id, span.stop))
        value, changed = short.value(at_first), short.value(at_last)
        if old is not None and value == changed and at_first != at_last:
            value, changed = _summed(at_first), _summed(at_last)
        grad = old.gradient if old else NONE
        found.append(StateRow(row.name, row.value_id, value, changed, grad, row.gradient))
    found += _memories(index, span)
    return tuple(sorted(found, key=lambda row: not (row.value_changes or row.grad_changes)))


def _memories(index: Index, span: Span) -> list[StateRow]:
    """Return what an optimizer that steps in ``span`` keeps, before that step and after it."""
    rows: list[StateRow] = []
    for event in index.tape.events[span.start : span.stop]:
        if event.kind != "step":
            continue
        step = index.tape.steps[event.ref]
        earlier = next(
            (s for s in index.tape.steps[: event.ref][::-1] if s.held == step.held), None
        )
        known = {}
        for owner, kind, kept in earlier.memory if earlier is not None else ():
            known[index.values[owner].tensor, kind] = index.snapshot(kept)
        for owner, kind, kept in step.memory:
            old = known.get((index.values[owner].tensor, kind))
            new = index.snapshot(kept)
            before, after = short.value(old), short.value(new)
            if old is not None and before == after and old != new:
                before, after = _summed(old), _summed(new)
            name = f"{kind} of {words.called(index, owner)}"
            rows.append(StateRow(name, owner, before, after, NONE, NONE))
    return rows


def _shown(index: Index, number: int, position: int) -> int | None:
    value = index.values[number]
    return index.numbers(number, position) if value.node is None else value.snapshot


def _summed(snapshot: Snapshot | None) -> str:
    """Return a big tensor as its size and its norm, so that a change of it can be seen."""
    if snapshot is None:
        return ""
    norm = short.norm(snapshot)
    size = f" ‖{text.number(norm)}‖" if norm is not None else ""
    return text.shape(snapshot.shape) + size
