"""Scenes: consecutive parts of a tape, each drawn as one picture (an iteration of a loop)."""

from bisect import bisect_left, bisect_right
from collections import Counter

from msgspec import Struct

from gradscribe.engine.protocol.tape import Event, Tape
from gradscribe.playback.tape.index import Index, index_of


class Scene(Struct, frozen=True):
    """Events ``start`` to ``stop`` (exclusive), and the range of `Tape.ops` among them."""

    start: int
    stop: int
    ops: tuple[int, int]
    title: str = ""


def scenes(tape: Tape | Index) -> tuple[Scene, ...]:
    """Return the scenes of a tape, in order and without gaps; at least one.

    A scene starts only where a loop repeats: at a forward op (or the failed call) whose line has
    already run in the current scene, after a backward pass has ended in it, and only if no backward
    pass leads from a later part into an earlier one. The line of an op inside a module is that of
    the outermost module's call. The events that lead up to that op (entering its module, its data,
    ``zero_grad``) belong to the new scene.
    """
    return index_of(tape).cached("scenes", _scenes)


def _scenes(index: Index) -> tuple[Scene, ...]:
    starts = _joined(index, _starts(index))
    stops = [*starts[1:], len(index.tape.events)]
    made = []
    for number, (start, stop) in enumerate(zip(starts, stops, strict=True), 1):
        ops = [e.ref for e in index.tape.events[start:stop] if e.kind == "op"]
        title = f"Step {number} of {len(starts)}" if len(starts) > 1 else ""
        made.append(Scene(start, stop, (min(ops), max(ops) + 1) if ops else (0, 0), title))
    return tuple(made)


def scene_index_at(scenes_: tuple[Scene, ...], position: int) -> int:
    """Return the index of the scene of a position, which is that of the event before it."""
    return max(0, bisect_left(scenes_, position, key=lambda scene: scene.start) - 1)


def _starts(index: Index) -> list[int]:
    events = index.tape.events
    starts = [0]
    seen: Counter[tuple[str, int]] = Counter()
    latest: dict[int, int] = {}
    inside: dict[int, int] = {}
    """Line of an op, in whatever module -> its latest event: an error has left its modules."""
    ended, outer = -1, 0
    calls: list[int] = []
    for at, event in enumerate(events):
        kind, line = event.kind, event.line
        if kind == "enter":
            outer = outer if calls else line
            calls.append(event.ref)
        elif kind == "leave" and event.ref in calls:
            del calls[calls.index(event.ref) :]
        elif kind == "op":
            if index.kinds[event.ref] != "forward":
                continue
            # A model that is called on two lines does not repeat, though the lines inside do.
            line = outer if calls else line
        elif kind == "end" and not index.tape.passes[event.ref].create_graph:
            # With create_graph a pass makes the graph longer, and ends nothing.
            ended = at
        if kind == "op" or (kind == "error" and index.tape.fault is not None):
            before = (latest if kind == "op" else inside).get(line, at)
            if starts[-1] <= before < ended:
                start = _led_up(events, at, seen)
                starts.append(start)
                seen = Counter((e.kind, e.line) for e in events[start:at])
            latest[line] = inside[event.line] = at
        seen[kind, event.line] += 1
    return starts


def _joined(index: Index, starts: list[int]) -> list[int]:
    """Return the starts without those that a backward pass crosses, from one scene into another.

    An unrolled inner loop is a single graph: its iterations are drawn together.
    """
    crossed: set[int] = set()
    for node, runs in index.node_runs.items() if len(starts) > 1 else ():
        made = index.op_events.get(index.node_ops.get(node, -1))
        if made is None:
            continue
        first, last = bisect_right(starts, made), bisect_right(starts, runs[-1][0])
        if first != last:
            crossed.update(range(first, last))
    return [start for number, start in enumerate(starts) if number not in crossed]


def _led_up(events: tuple[Event, ...], at: int, seen: Counter[tuple[str, int]]) -> int:
    """Return the first event of the iteration that reached a known line at event ``at``."""
    # An error leaves the modules in which it is raised.
    around = ("enter", "leave") if events[at].kind == "error" else ("enter",)
    while True:
        before = events[at - 1]
        again = before.kind in ("leaf", "zero_grad", "print")
        if before.kind not in around and not (again and seen[before.kind, before.line] > 1):
            return at
        at -= 1
