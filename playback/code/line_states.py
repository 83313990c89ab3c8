"""State of every named tensor before and after the source line that runs."""

from bisect import bisect_left

from msgspec import Struct

from gradscribe.engine.protocol.tape import Snapshot, Tape
from gradscribe.playback.code.places import line_runs
from gradscribe.playback.tape import event_text, snapshot_text
from gradscribe.playback.tape.index import Index, index_of
from gradscribe.playback.tape.track import NONE, value_rows
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr


class LineRun(Struct, frozen=True):
    """One run of one line: events ``start`` to ``stop`` (exclusive)."""

    line: int
    start: int
    stop: int


class StateRow(Struct, frozen=True):
    """A tensor's value and gradient, each before and after a line, as text.

    Empty where the tensor did not exist yet, an em dash where it has no gradient.
    """

    name: str
    value_id: int
    before: str
    after: str
    grad_before: str
    grad_after: str

    @property
    def value_changes(self) -> bool:
        """True if the line changes or creates the value."""
        return self.before != self.after

    @property
    def grad_changes(self) -> bool:
        """True if the line changes the gradient."""
        return self.grad_before != self.grad_after and bool(self.grad_after)


def line_run_at(tape: Tape | Index, position: int) -> LineRun | None:
    """Return the run of the line that the latest event belongs to; None before the first event."""
    if position <= 0:
        return None
    runs = line_runs(index_of(tape))
    found = bisect_left(runs, position, key=lambda run: run[1])
    return LineRun(*runs[found - 1]) if runs else None


def end_of_next_line(tape: Tape | Index, position: int) -> int:
    """Return the position at the end of the line that is running, else of the next line."""
    index = index_of(tape)
    for _, start, stop in line_runs(index):
        if stop > position >= start or start >= position:
            return stop
    return len(index.tape.events)


def start_of_line(tape: Tape | Index, position: int) -> int:
    """Return the position before the line that the latest event belongs to."""
    span = line_run_at(tape, position)
    return span.start if span is not None else 0


def tensor_states(tape: Tape | Index, position: int) -> tuple[StateRow, ...]:
    """Return every named tensor before and after the running line, changed tensors first."""
    index = index_of(tape)
    span = line_run_at(index, position)
    if span is None:
        return ()
    before = {row.name: row for row in value_rows(index, span.start)}
    found = []
    for row in value_rows(index, span.stop):
        old = before.get(row.name)
        at_first = index.snapshot(_shown(index, old.value_id, span.start)) if old else None
        at_last = index.snapshot(_shown(index, row.value_id, span.stop))
        value, changed = snapshot_text.value(at_first), snapshot_text.value(at_last)
        if old is not None and value == changed and at_first != at_last:
            value, changed = _shape_and_norm(at_first), _shape_and_norm(at_last)
        grad = old.gradient if old else NONE
        found.append(StateRow(row.name, row.value_id, value, changed, grad, row.gradient))
    found += _optimizer_states(index, span)
    return tuple(sorted(found, key=lambda row: not (row.value_changes or row.grad_changes)))


def _optimizer_states(index: Index, span: LineRun) -> list[StateRow]:
    """Return the state of the optimizers that step in ``span``, before and after that step."""
    rows: list[StateRow] = []
    for event in index.tape.events[span.start : span.stop]:
        if event.kind != "step":
            continue
        step = index.tape.steps[event.ref]
        earlier = next(
            (s for s in index.tape.steps[: event.ref][::-1] if s.held == step.held), None
        )
        known = {}
        for owner, kind, state in earlier.memory if earlier is not None else ():
            known[index.values[owner].tensor, kind] = index.snapshot(state)
        for owner, kind, state in step.memory:
            old = known.get((index.values[owner].tensor, kind))
            new = index.snapshot(state)
            before, after = snapshot_text.value(old), snapshot_text.value(new)
            if old is not None and before == after and old != new:
                before, after = _shape_and_norm(old), _shape_and_norm(new)
            name = tr(
                "{kind} of {value_name}", kind=kind, value_name=event_text.value_name(index, owner)
            )
            rows.append(StateRow(name, owner, before, after, NONE, NONE))
    return rows


def _shown(index: Index, number: int, position: int) -> int | None:
    value = index.values[number]
    return index.snapshot_at(number, position) if value.node is None else value.snapshot


def _shape_and_norm(snapshot: Snapshot | None) -> str:
    """Return a big tensor's shape and norm, so that a change of its values is visible."""
    if snapshot is None:
        return ""
    norm = snapshot_text.norm(snapshot)
    size = f" ‖{formatting.number(norm)}‖" if norm is not None else ""
    return formatting.shape(snapshot.shape) + size
