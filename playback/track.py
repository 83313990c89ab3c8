"""The tape as a track: its phases, its ledger of events, its table of named values."""

from dataclasses import dataclass, field

from msgspec import Struct

from engine.tape import EventKind, Tape
from playback import short, text, words
from playback.film import Film
from playback.index import Index, Phase, index_of


class Segment(Struct, frozen=True):
    """Events ``start`` to ``stop`` (exclusive) of one phase."""

    phase: Phase
    start: int
    stop: int


class Entry(Struct, frozen=True):
    """One row of the ledger: ``position`` is the one just after its event."""

    position: int
    kind: EventKind
    line: int
    text: str


class ValueRow(Struct, frozen=True):
    """One named value at a position. ``pending``: its gradient is on the way (``…``)."""

    name: str
    value_id: int
    value: str
    gradient: str
    pending: bool = False


NONE = "—"
PENDING = "…"


def segments(tape: Tape | Index) -> tuple[Segment, ...]:
    """Return the phases in order, without gaps, over all events; none for an empty tape."""
    phases = index_of(tape).phases
    found: list[Segment] = []
    start = 0
    for at in range(1, len(phases) + 1):
        if at == len(phases) or phases[at] != phases[start]:
            found.append(Segment(phases[start], start, at))
            start = at
    return tuple(found)


def ledger(tape: Tape | Index) -> tuple[Entry, ...]:
    """Return a sentence for every event worth telling, in order."""
    index = index_of(tape)
    return index.kept("ledger", _ledger)


def _ledger(index: Index) -> tuple[Entry, ...]:
    return tuple(
        Entry(at + 1, event.kind, event.line, words.entry(index, at))
        for at, event in enumerate(index.tape.events)
        if event.kind not in ("leave", "end")
    )


@dataclass
class _State:
    shown: dict[str, int] = field(default_factory=dict)
    """Name -> value id."""
    order: dict[str, float] = field(default_factory=dict)
    """Name -> the event it is sorted by: results by their own, leaves by their first use."""

    def copy(self) -> "_State":
        return _State(dict(self.shown), dict(self.order))


class _Named:
    """Which value each name stands for, along the tape."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.film = Film(len(index.tape.events), _State(), _State.copy, self.step)

    def step(self, state: _State, at: int) -> None:
        """Change the state by one event."""
        index, event = self.index, self.index.tape.events[at]
        if at in index.during:
            return
        if event.kind == "leaf":
            self._put(state, event.ref, at)
        elif event.kind == "op":
            op = index.op(event.ref)
            for number in op.outputs if index.kinds[event.ref] == "forward" else ():
                self._put(state, number, at)
            for place, number in enumerate(op.inputs):
                value = index.values[number]
                known = index.values[index.home(number)].name
                if value.op is None and known in state.order:
                    state.order[known] = at - 0.5 + place / 1000

    def _put(self, state: _State, number: int, at: int) -> None:
        value = self.index.values[number]
        leaf = self.index.values[self.index.home(number)]
        name = value.name or (leaf.name if value.role == "parameter" else "")
        if not name or value.maker == ".grad":
            return
        state.shown[name] = number
        if value.role != "parameter" or name not in state.order:
            state.order[name] = at


def value_rows(tape: Tape | Index, position: int) -> tuple[ValueRow, ...]:
    """Return the named values made so far, the most recent result first, leaves by their uses."""
    index = index_of(tape)
    state = index.kept("named", _Named).film.at(position)
    names = sorted(state.shown, key=lambda name: -state.order[name])
    return tuple(_row(index, name, state.shown[name], position) for name in names)


def _row(index: Index, name: str, number: int, position: int) -> ValueRow:
    value = index.values[number]
    known = index.gradient(number, position)
    newest = index.numbers(number, position) if value.node is None else value.snapshot
    written = short.value(index.snapshot(newest))
    if known.pending:
        return ValueRow(name, number, written, PENDING, True)
    gradient = short.gradient(index.snapshot(known.snapshot))
    if not gradient:
        gradient = text.number(0.0) if known.zeros else NONE
    return ValueRow(name, number, written, gradient)
