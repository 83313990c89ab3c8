"""Named places on a tape, for lessons: ``after backward``, ``before line 7``, ``end``."""

import re
from collections.abc import Sequence

from gradscribe.playback.tape import track
from gradscribe.playback.tape.index import Index

FORM = re.compile(
    r"(before|after) (?:line (\d{1,9})|grad (\S+)"
    r"|(forward|backward|step|zero_grad|update|loss|error)|(\S+))(?: (\d{1,9}|last))?"
)


class UnknownPlace(LookupError):
    """The tape has no such place, or the text is not a place."""


def position_of(index: Index, words: str) -> int:
    """Return the position (number of events so far) of the place ``words``.

    ``start``, ``end``, or ``before`` or ``after`` and one of: ``forward``, ``loss``, ``backward``,
    ``step``, ``zero_grad``, ``update``, ``error``, ``line N``, ``grad NAME`` (where the gradient of
    that tensor is complete), or a name (where that tensor is created). A number after it selects
    that occurrence instead of the first, ``last`` the last.

    Raises:
        NoPlace: the tape has no such place.
    """
    words = " ".join(words.split())
    if words in ("", "end"):
        return len(index.tape.events)
    if words == "start":
        return 0
    found = FORM.fullmatch(words)
    if found is None:
        raise UnknownPlace(f"{words!r} names no place on a tape")
    side, line, owner, phase, name, which = found.groups()
    if line:
        spans = line_spans(index, int(line))
    elif owner:
        spans = _arrivals(index, owner)
    elif phase:
        spans = _phase_spans(index, phase)
    else:
        spans = _births(index, name)
    nth = len(spans) if which == "last" else int(which or 1)
    if not 1 <= nth <= len(spans):
        raise UnknownPlace(f"nothing on the tape is {words!r}")
    start, stop = spans[nth - 1]
    return start if side == "before" else stop


def line_of(index: Index, at: int) -> int:
    """Return the line that runs at an event; during a backward pass the line of its call."""
    tape = index.tape
    for number, (start, stop) in index.passes.items():
        if start <= at <= stop and number < len(tape.passes):
            return tape.passes[number].line or tape.events[at].line
    return tape.events[at].line


def line_runs(index: Index) -> Sequence[tuple[int, int, int]]:
    """Return (line, start, stop) of the events of each run of a line, in order."""
    return index.cached("line runs", _line_runs)


def _line_runs(index: Index) -> list[tuple[int, int, int]]:
    events = index.tape.events
    lines = [event.line for event in events]
    for number, (start, stop) in index.passes.items():
        if number < len(index.tape.passes) and index.tape.passes[number].line:
            lines[start : stop + 1] = [index.tape.passes[number].line] * (stop + 1 - start)
    runs: list[tuple[int, int, int]] = []
    for at, line in enumerate(lines):
        if runs and (line in (runs[-1][0], 0)):
            runs[-1] = (runs[-1][0], runs[-1][1], at + 1)
        else:
            runs.append((line, at, at + 1))
    return runs


def line_spans(index: Index, line: int) -> list[tuple[int, int]]:
    """Return (start, stop) of the events of each run of ``line``."""
    return [(start, stop) for where, start, stop in line_runs(index) if where == line]


def _phase_spans(index: Index, phase: str) -> list[tuple[int, int]]:
    if phase == "backward":
        return [(start, stop + 1) for start, stop in sorted(index.passes.values())]
    if phase in ("step", "zero_grad", "error"):
        events = enumerate(index.tape.events)
        return [(at, at + 1) for at, event in events if event.kind == phase]
    segments = track.segments(index)
    if phase != "forward":
        wanted = {"loss": "Loss", "update": "Update"}[phase]
        return [(part.start, part.stop) for part in segments if part.phase == wanted]
    spans: list[tuple[int, int]] = []
    for part in segments:
        if part.phase == "Loss" and spans and spans[-1][1] == part.start:
            spans[-1] = (spans[-1][0], part.stop)  # the loss counts as the last forward op
        elif part.phase in ("Forward", "Loss"):
            spans.append((part.start, part.stop))
    return spans


def _births(index: Index, name: str) -> list[tuple[int, int]]:
    born = [
        index.created_at[v.id]
        for v in index.tape.values
        if v.name == name and v.id in index.created_at
    ]
    return [(at, at + 1) for at in sorted(born)]


def _arrivals(index: Index, name: str) -> list[tuple[int, int]]:
    """Return the events at which a tensor's gradient is complete, one per pass."""
    found: set[int] = set()
    for value in index.tape.values:
        if value.name == name and value.node is not None:
            found |= {at for at, _ in index.node_runs.get(value.node, ())}
        elif name in (value.name, index.values[index.first_version(value.id)].name):
            found |= {at for at, _ in index.accumulated.get(index.first_version(value.id), ())}
    return [(at, at + 1) for at in sorted(found)]
