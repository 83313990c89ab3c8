"""Marks next to the source lines: the value each line made last, and its gradient."""

from msgspec import Struct
from msgspec.structs import replace

from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.tape import snapshot_text
from gradscribe.playback.tape.fold import CheckpointedFold
from gradscribe.playback.tape.index import Index, index_of
from gradscribe.playback.tape.phases import ACTIVE, Active, phases


class LineMark(Struct, frozen=True):
    """Mark of one line at a position: its last value and gradient as short texts.

    ``value`` is empty until the line is reached, ``gradient`` until backward has passed; both are
    empty while their layer is off.
    """

    line: int
    name: str
    value: str
    gradient: str
    reached: bool
    active: Active = ""


class _Lines:
    """The value that each line shows, along the whole tape."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.every: dict[int, int] = {}
        """Line -> its first value: lines have marks before they are reached."""
        state: dict[int, int] = {}
        for at in range(len(index.tape.events)):
            self.step(state, at)
            line = index.tape.events[at].line
            if line in state:
                self.every.setdefault(line, state[line])
        self.film = CheckpointedFold[dict[int, int]](len(index.tape.events), {}, dict)

    def step(self, state: dict[int, int], at: int) -> None:
        """Show the value that an event made at the line of that event."""
        event = self.index.tape.events[at]
        if not event.line or at in self.index.events_in_passes:
            return
        if event.kind == "leaf":
            value = self.index.values[event.ref]
            inner = self.index.first_version(event.ref) in self.index.leaf_calls
            if value.role != "constant" and not inner:
                state[event.line] = event.ref
        elif event.kind == "op":
            op = self.index.op(event.ref)
            if op.outputs and (op.inplace or self.index.kinds[event.ref] == "forward"):
                state[event.line] = op.outputs[0]


def line_marks(
    tape: Tape | Index, position: int, values: bool = True, gradients: bool = True
) -> dict[int, LineMark]:
    """Return line -> mark for all lines that make values, after ``position`` events.

    ``values`` and ``gradients`` are the layers that are on.
    """
    index = index_of(tape)
    lines = index.cached("lines", _Lines)
    state = lines.film.at(position, lines.step)
    found = {line: _mark(index, lines, line, state.get(line), position) for line in lines.every}
    if 0 < position <= len(index.tape.events):
        event = index.tape.events[position - 1]
        phase = ACTIVE[phases(index)[position - 1]]
        for line in {event.line, *_moved(index, position - 1)} - {0}:
            old = found.get(line) or LineMark(line, "", "", "", True)
            found[line] = LineMark(line, old.name, old.value, old.gradient, True, phase)
    if values and gradients:
        return found
    return {
        line: replace(mark, value=mark.value * values, gradient=mark.gradient * gradients)
        for line, mark in found.items()
    }


def _mark(index: Index, lines: _Lines, line: int, shown: int | None, position: int) -> LineMark:
    if shown is None:
        return LineMark(line, index.values[lines.every[line]].name, "", "", False)
    value = index.values[shown]
    known = index.gradient(shown, position)
    newest = index.snapshot_at(shown, position) if value.node is None else value.snapshot
    writer = snapshot_text.cached_texts(index)
    gradient = writer.gradient(known.snapshot)
    return LineMark(line, value.name, writer.value(newest), gradient, True)


def _moved(index: Index, at: int) -> set[int]:
    """Return the lines that define the leaves an event changed or gave a gradient."""
    event = index.tape.events[at]
    if event.kind == "accumulate":
        leaves = [index.tape.accumulations[event.ref].leaf]
    elif event.kind in ("step", "write", "gap"):
        leaves = [change.before for change in index.changes(event)]
    elif event.kind == "grad":
        leaves = [leaf for leaf, _ in index.tape.rewrites[event.ref]]
    else:
        leaves = []
    return {index.values[index.first_version(leaf)].place.line for leaf in leaves}
