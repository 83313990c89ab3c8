"""Tables of a tape: its phases, its ledger of events, its named values."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import overload

from msgspec import Struct

from gradscribe.engine.protocol.tape import EventKind, Tape
from gradscribe.playback.tape import event_text, snapshot_text
from gradscribe.playback.tape.fold import CheckpointedFold
from gradscribe.playback.tape.index import Index, index_of
from gradscribe.playback.tape.pass_names import pass_names
from gradscribe.playback.tape.phases import Phase, phases
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr

PHASE_TITLES: dict[str, str] = {
    "Forward": tr("Forward"),
    "Loss": tr("Loss"),
    "Backward": tr("Backward"),
    "Update": tr("Update"),
}
"""Phase -> its title on the screen; others are named after functions."""


class Segment(Struct, frozen=True):
    """Events ``start`` to ``stop`` (exclusive) of one phase."""

    phase: Phase
    start: int
    stop: int
    name: str = ""
    """Name of the backward pass, where that says more than its phase."""

    @property
    def title(self) -> str:
        """The name of the pass, else the phase."""
        return self.name or PHASE_TITLES.get(self.phase, self.phase)


class LedgerRow(Struct, frozen=True, gc=False):
    """One row of the ledger; ``position`` is right after its event."""

    position: int
    kind: EventKind
    line: int
    text: str


class VariableRow(Struct, frozen=True, gc=False):
    """A named value at a position. ``pending``: its gradient is not complete (``…``)."""

    name: str
    value_id: int
    value: str
    gradient: str
    pending: bool = False


NONE = "—"
PENDING = "…"


def segments(tape: Tape | Index) -> tuple[Segment, ...]:
    """Return the phases in order, without gaps, over all events; none for an empty tape.

    A backward pass that follows another is a segment of its own.
    """
    return index_of(tape).cached("segments", _segments)


def _segments(index: Index) -> tuple[Segment, ...]:
    known, names = phases(index), pass_names(index)
    begun = {index.passes[run][0]: name for run, name in names.items()}
    found: list[Segment] = []
    start, name = 0, ""
    for at in range(len(known) + 1):
        is_next = at == len(known) or at in begun or known[at] != known[start]
        if is_next and at > start:
            # The end of a pass within what follows it has the phase of a pass, and no name.
            shown = name if known[start] == "Backward" and name != "Backward" else ""
            found.append(Segment(known[start], start, at, shown))
            start, name = at, ""
        name = begun.get(at, name)
    return tuple(found)


def title_at(tape: Tape | Index, event: int) -> str:
    """Return the phase of an event, or the name of the backward pass that it is in."""
    found = segments(tape)
    return found[bisect_right([part.start for part in found], event) - 1].title if found else ""


def ledger(tape: Tape | Index) -> Sequence[LedgerRow]:
    """Return a row for every event but the ends of calls and passes; built when accessed."""
    return index_of(tape).cached("ledger", _Ledger)


class _Ledger(Sequence[LedgerRow]):
    """Lazy rows of the ledger: on a long tape hardly any of them is ever seen."""

    def __init__(self, index: Index) -> None:
        self._index = index
        events = enumerate(index.tape.events)
        self._shown_events = [at for at, event in events if event.kind not in ("leave", "end")]
        self._entries: dict[int, LedgerRow] = {}

    def __len__(self) -> int:
        return len(self._shown_events)

    @overload
    def __getitem__(self, row: int) -> LedgerRow: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[LedgerRow]: ...

    def __getitem__(self, row: int | slice) -> LedgerRow | Sequence[LedgerRow]:
        if isinstance(row, slice):
            return [self._entry(at) for at in self._shown_events[row]]
        return self._entry(self._shown_events[row])

    def _entry(self, at: int) -> LedgerRow:
        if at not in self._entries:
            event = self._index.tape.events[at]
            written = event_text.ledger_text(self._index, at)
            self._entries[at] = LedgerRow(at + 1, event.kind, event.line, written)
        return self._entries[at]


@dataclass
class _State:
    shown: dict[str, int] = field(default_factory=dict)
    """Name -> value id."""
    order: dict[str, float] = field(default_factory=dict)
    """Name -> sort key: the event that made a result, the latest use of a leaf."""

    def copy(self) -> "_State":
        return _State(dict(self.shown), dict(self.order))


class _Named:
    """The value that each name stands for, along the tape."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.film = CheckpointedFold(len(index.tape.events), _State(), _State.copy)
        self.latest: tuple[int, tuple[VariableRow, ...]] | None = None
        """A position and its rows: precomputed in a worker thread, then shown."""
        self._change_events: dict[int, tuple[int, ...]] = {}
        self._rows: dict[str, tuple[int, int, VariableRow]] = {}
        """Name -> (value, number of the value's changes so far, row): the row is valid while the
        first two stay the same, so thousands of rows need not be built again."""

    def step(self, state: _State, at: int) -> None:
        """Change the state by one event."""
        index, event = self.index, self.index.tape.events[at]
        if at in index.events_in_passes:
            return
        if event.kind == "leaf":
            self._put(state, event.ref, at)
        elif event.kind in ("write", "gap"):
            for change in index.changes(event):
                self._put(state, change.after, at)
        elif event.kind == "op":
            op = index.op(event.ref)
            for number in op.outputs if index.kinds[event.ref] == "forward" else ():
                self._put(state, number, at)
            for place, number in enumerate(op.inputs):
                value = index.values[number]
                known = index.values[index.first_version(number)].name
                if value.op is None and known in state.order:
                    state.order[known] = at - 0.5 + place / 1000

    def _put(self, state: _State, number: int, at: int) -> None:
        value = self.index.values[number]
        leaf = self.index.values[self.index.first_version(number)]
        name = value.name or (leaf.name if value.role == "parameter" else "")
        if not name or value.maker == ".grad":
            return
        state.shown[name] = number
        if value.role != "parameter" or name not in state.order:
            state.order[name] = at

    def row(self, name: str, number: int, position: int) -> VariableRow:
        """Return the row of a name at a position."""
        if number not in self._change_events:
            self._change_events[number] = change_events(self.index, number)
        behind = bisect_left(self._change_events[number], position)
        known = self._rows.get(name)
        if known is None or known[0] != number or known[1] != behind:
            known = (number, behind, _row(self.index, name, number, position))
            self._rows[name] = known
        return known[2]


def change_events(index: Index, number: int) -> tuple[int, ...]:
    """Return the events after which a value's data or gradient may have changed."""
    value, home = index.values[number], index.first_version(number)
    arrivals = index.arrivals.get(
        (home, 0) if value.node is None else (value.node, value.output_nr), []
    )
    found = [arrival.event for arrival in arrivals]
    found += [index.passes[run][1] for run in {a.run for a in arrivals} if run in index.passes]
    found += [event for event, _ in index.updates.get(home, ())]
    if value.node is None:
        found += [grad.event for grad in index.grads.get(home, ())]
    else:
        found += [event for event, _ in index.node_runs.get(value.node, ())]
    return tuple(sorted(found))


def value_rows(tape: Tape | Index, position: int) -> tuple[VariableRow, ...]:
    """Return the named values so far, latest result first, leaves by their latest use."""
    index = index_of(tape)
    named = index.cached("named", _Named)
    if named.latest is None or named.latest[0] != position:
        state = named.film.at(position, named.step)
        names = sorted(state.shown, key=lambda name: -state.order[name])
        rows = tuple(named.row(name, state.shown[name], position) for name in names)
        named.latest = (position, rows)
    return named.latest[1]


def _row(index: Index, name: str, number: int, position: int) -> VariableRow:
    value = index.values[number]
    known = index.gradient(number, position)
    newest = index.snapshot_at(number, position) if value.node is None else value.snapshot
    writer = snapshot_text.cached_texts(index)
    written = writer.value(newest)
    if known.pending:
        return VariableRow(name, number, written, PENDING, True)
    gradient = writer.gradient(known.snapshot)
    if not gradient:
        gradient = formatting.number(0.0) if known.zeros else NONE
    return VariableRow(name, number, written, gradient)
