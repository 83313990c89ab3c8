"""Scenes: consecutive parts of a tape, each drawn as one picture (an iteration of a loop)."""

from bisect import bisect_left, bisect_right
from collections import Counter

from msgspec import Struct

from gradscribe.engine.protocol.tape import Event, StepLoop, Tape
from gradscribe.playback.tape.index import Index, index_of
from gradscribe.playback.tape.loops.partial_loops import main_loop
from gradscribe.playback.tape.loops.rounds import OUTSIDE, LoopText, last_line
from gradscribe.playback.translation import tr


class Scene(Struct, frozen=True):
    """Events ``start`` to ``stop`` (exclusive), and the range of `Tape.ops` among them."""

    start: int
    stop: int
    ops: tuple[int, int]
    title: str = ""


def scenes(tape: Tape | Index) -> tuple[Scene, ...]:
    """Return the scenes of a tape, in order and without gaps; at least one.

    A scene starts only where a loop repeats: at a forward op (or the failed call) whose line has
    already run in the current scene, or above which the body of a loop has already been, after a
    backward pass has ended in it; and only if no backward pass leads from a later part into an
    earlier one. The line of an op inside a module is that of the outermost module's call. The
    events that lead up to that op (entering its module, its data, ``zero_grad``) belong to the new
    scene.
    """
    return index_of(tape).cached("scenes", _scenes)


def _scenes(index: Index) -> tuple[Scene, ...]:
    starts = _joined(index, _starts(index))
    # What follows the last step with a graph is shown with its picture.
    while len(starts) > 1 and not any(e.kind == "op" for e in index.tape.events[starts[-1] :]):
        if index.tape.events[starts[-1]].kind != "gap":
            break
        starts.pop()
    stops = [*starts[1:], len(index.tape.events)]
    loop = main_loop(index.tape)
    firsts = [event for _, event in loop.full] if loop is not None else []
    made = []
    for number, (start, stop) in enumerate(zip(starts, stops, strict=True), 1):
        ops = [e.ref for e in index.tape.events[start:stop] if e.kind == "op"]
        title = (
            tr("Step {number} of {starts_count}", number=number, starts_count=len(starts))
            if len(starts) > 1
            else ""
        )
        if loop is not None:
            title = _partial_title(loop, firsts, start, stop)
        made.append(Scene(start, stop, (min(ops), max(ops) + 1) if ops else (0, 0), title))
    return tuple(made)


def _partial_title(loop: StepLoop, firsts: list[int], start: int, stop: int) -> str:
    """Return the title of a scene of a loop that was recorded in part."""
    place = bisect_left(firsts, stop) - 1
    if place < 0 or (firsts[place] < start and place + 1 < len(firsts)):
        return ""
    step = loop.full[place][0]
    return (
        tr("Step {step:,} of {steps:,}", step=step, steps=loop.steps)
        if firsts[place] >= start
        else tr("After the loop")
    )


def scene_index_at(scenes_: tuple[Scene, ...], position: int) -> int:
    """Return the index of the scene of a position, which is that of the event before it."""
    return max(0, bisect_left(scenes_, position, key=lambda scene: scene.start) - 1)


def _starts(index: Index) -> list[int]:
    finder = _StartFinder(index)
    for at, event in enumerate(index.tape.events):
        if event.kind not in _WITHIN_PASS:
            finder.read(at, event)
    return finder.end()


_WITHIN_PASS = frozenset(("node", "accumulate"))
_LEADING = ("leaf", "zero_grad", "print")
"""Kinds of events that lead up to a repeated line, where their own line repeats as well."""


class _StartFinder:
    """Finds the starts of scenes, event by event.

    Where the text of the loops is known, a scene also begins where the body of a loop goes back to
    a line above after a pass; and a function that is called twice in a round of it begins none.
    """

    def __init__(self, index: Index) -> None:
        self._index, self._events = index, index.tape.events
        self._text = LoopText(index.tape.loops, index.tape.arms)
        self._has_text = bool(index.tape.loops)
        self.starts = [0]
        self._seen: Counter[tuple[str, int]] = Counter()
        self._latest: dict[int, int] = {}
        self._inside: dict[int, int] = {}
        """Line of an op, in whatever module -> its latest event: an error has left its modules."""
        self._ended, self._outer = -1, 0
        self._calls: list[int] = []
        self._line, self._line_at = 0, -1
        """The latest line in the body of a loop, and its event."""
        self._around: tuple[int, ...] = ()
        self._round_at: dict[int, int] = {}
        """Loop -> the event at which its present round began."""
        self._known = 1
        """Number of starts that no later line can take back."""
        self._entered: tuple[int, int] | None = None
        """Event and loop where the program came out of a loop with a pass into another."""
        self._loops: set[int] = set()
        """The loops of the scene so far."""

    def read(self, at: int, event: Event) -> None:
        """Take the event ``at``, which may begin a scene."""
        kind, line, index = event.kind, event.line, self._index
        is_outer = not self._calls
        is_forward = (
            kind == "op"
            and index.kinds[event.ref] == "forward"
            and event.ref not in index.collectives
        )
        if kind == "gap":
            self._begin_after_gap(at)
        elif kind == "enter":
            self._outer = line if is_outer else self._outer
            self._calls.append(event.ref)
        elif kind == "leave" and event.ref in self._calls:
            del self._calls[self._calls.index(event.ref) :]
        elif is_forward:
            # A model that is called on two lines does not repeat, though the lines inside do.
            line = line if is_outer else self._outer
        elif kind == "end" and not index.tape.passes[event.ref].create_graph:
            # With create_graph a pass makes the graph longer, and ends nothing.
            self._ended = at
            self._end_entry(at)
        if is_outer and self._has_text and kind not in OUTSIDE:
            if line == self._line:
                self._line_at, self._known = at, len(self.starts)
            elif at not in index.events_in_passes:
                self._follow(at, event)
        if is_forward or (kind == "error" and index.tape.fault is not None):
            before = (self._latest if is_forward else self._inside).get(line, at)
            if self.starts[-1] <= before < self._ended:
                self._begin(at, at)
                if not (is_forward and self._has_text) or self._text.around(line):
                    self._known = len(self.starts)
            self._latest[line] = self._inside[event.line] = at
        if kind in _LEADING:
            self._seen[kind, event.line] += 1

    def _follow(self, at: int, event: Event) -> None:
        """Take an event that may be in the body of a loop."""
        line, before = event.line, self._around
        around = self._text.around(line)
        if not around:
            return
        common = around if around is before else [loop for loop in around if loop in before]
        is_above = line < self._line
        if is_above:
            back = bool(common) and last_line(self._index, event) < self._line
        else:
            back = bool(common) and self._text.exclude(self._line, line)
        if back and self._ended > self._round_at[common[-1]]:
            if self._ended >= self.starts[-1] and len(self.starts) == self._known:
                self._begin(self._first_op(at), at)
        elif common and not (is_above or back) and len(self.starts) > self._known:
            self._forget(at)
        elif not common and self._loops and self._loops.isdisjoint(around):
            self._entered = (at, around[0]) if self._ended >= self.starts[-1] else None
        if self._entered is not None and self._entered[1] not in around:
            self._entered = None
        if back or around is not before:
            for loop in around:
                if loop not in before or (back and loop == common[-1]):
                    self._round_at[loop] = at
            if self._entered is None:
                self._loops.update(around)
        self._line, self._line_at, self._around = line, at, around
        self._known = len(self.starts)

    def end(self) -> list[int]:
        """Return the starts, without that of a call after the last line of a loop."""
        if len(self.starts) > self._known and self._ended < self.starts[-1] and self._line:
            self._forget(len(self._events))
        return self.starts

    def _forget(self, at: int) -> None:
        """Take back the starts since the latest line of a loop, before the event ``at``."""
        del self.starts[self._known :]
        self._count(at)

    def _first_op(self, at: int) -> int:
        """Return the first forward op since the latest pass and the latest line; else ``at``."""
        for number in range(max(self._ended, self._line_at) + 1, at):
            event = self._events[number]
            if event.kind == "op" and self._index.kinds[event.ref] == "forward":
                return number
        return at

    def _end_entry(self, at: int) -> None:
        """Begin a scene where a loop was entered that turns out to have passes of its own."""
        if self._entered is not None and self._entered[0] > self.starts[-1]:
            self._begin(self._entered[0], at)
            self._known = len(self.starts)
            self._loops.update(self._around)
        self._entered = None

    def _begin_after_gap(self, at: int) -> None:
        """Begin a scene with steps that were not recorded in full."""
        if at > self.starts[-1]:
            self.starts.append(at)
            self._known = len(self.starts)
            self._loops = set(self._text.around(self._events[at].line))
            self._count(at)

    def _begin(self, first: int, at: int) -> None:
        """Begin a scene with what leads up to the event ``first``; ``at`` is being read."""
        self.starts.append(_led_up(self._events, first, self._seen))
        self._loops = set(self._text.around(self._events[first].line))
        self._count(at)

    def _count(self, at: int) -> None:
        """Count the lines of the scene so far, before the event ``at``."""
        since = self._events[self.starts[-1] : at]
        self._seen = Counter((e.kind, e.line) for e in since if e.kind in _LEADING)


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
    crossed |= _within_statements(index, starts) if len(starts) > 1 else set()
    return [start for number, start in enumerate(starts) if number not in crossed]


def _within_statements(index: Index, starts: list[int]) -> set[int]:
    """Return the starts inside a statement that takes what its own passes returned.

    ``torch.autograd.functional.hessian`` has one pass for each row.
    """
    crossed: set[int] = set()
    for run, row in enumerate(index.tape.passes):
        if run not in index.passes:
            continue
        first = bisect_right(starts, index.passes[run][0])
        for user in (u for result in row.results for u in index.users.get(result or -1, ())):
            at = index.op_events.get(user)
            if at is not None and index.op(user).place.line == row.line:
                crossed.update(range(first, bisect_right(starts, at)))
    return crossed


def _led_up(events: tuple[Event, ...], at: int, seen: Counter[tuple[str, int]]) -> int:
    """Return the first event of the iteration that reached a known line at event ``at``."""
    # An error leaves the modules in which it is raised.
    around = ("enter", "leave") if events[at].kind == "error" else ("enter",)
    while True:
        before = events[at - 1]
        again = before.kind in _LEADING
        if before.kind not in around and not (again and seen[before.kind, before.line] > 1):
            return at
        at -= 1
