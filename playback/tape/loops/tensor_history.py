"""A tensor over the steps of a loop: its value and gradient at the same event of every step."""

import math
from collections.abc import Generator, Iterator, Sequence

import numpy as np
from msgspec import Struct

from gradscribe.engine.protocol.tape import Snapshot
from gradscribe.playback.tape import event_text, snapshot_text
from gradscribe.playback.tape.index import Index
from gradscribe.playback.tape.loops.loop_scalars import ScalarSeries
from gradscribe.playback.tape.loops.steps import Steps, event_key, steps_of
from gradscribe.playback.tape.scenes import scenes
from gradscribe.playback.translation import tr

MOST_ELEMENTS = 3
"""Most elements of a tensor that have a curve each; of a larger one the norm is drawn."""
EVENTS_AT_ONCE = 500
"""Events between two pauses."""

Moments = list[tuple[int, int]]
"""Positions right after something changed, each with the snapshot since then."""


class TensorHistory(Struct, frozen=True):
    """The curves of a tensor, values first. ``note`` says why there are none."""

    name: str
    series: tuple[ScalarSeries, ...] = ()
    note: str = ""
    values: frozenset[int] = frozenset()
    """The values of the steps; of a leaf that is followed its first version."""

    def is_of(self, index: Index, number: int) -> bool:
        """Return whether a value of the same tape has this history."""
        if index.values[number].node is None:
            number = index.first_version(number)
        return number in self.values


def tensor_history(index: Index, number: int) -> Generator[None, None, TensorHistory]:
    """Return the history of a value's tensor; yield between pieces of work.

    A leaf is followed as it is updated: its value at the end of each step and the ``.grad`` that it
    got there. A result is that of the same event in each step, with the gradient that reached it.
    """
    steps, value = steps_of(index), index.values[number]
    name = event_text.value_name(index, number)
    home = index.first_version(number)
    if not steps.starts:
        return TensorHistory(name, note=tr("The program has no loop"))
    if value.node is None and (home in index.grads or home in index.updates):
        values, gradients = _leaf_values(index, steps, home), _leaf_gradients(index, steps, home)
        called, numbers = f"{name}.grad", [home]
    else:
        numbers = yield from same_values(index, steps, number)
        if len(numbers) < 2:
            note = tr("{name} is made in a single step", name=name)
            return TensorHistory(name, note=note, values=frozenset([number, home]))
        values = _snapshots(index, numbers)
        gradients = _gradients(index, steps, numbers)
        called = f"∂{_root(index)}/∂{name}"
    yield
    found = [*_series(index, name, values), *_series(index, called, gradients)]
    note = "" if found else tr("The numbers of {name} were not stored", name=name)
    return TensorHistory(name, tuple(found), note, frozenset(numbers))


def same_values(index: Index, steps: Steps, number: int) -> Generator[None, None, list[int]]:
    """Return the values that the same event made in each step, in order; yield between steps."""
    born = index.created_at.get(number)
    if born is None:
        return [number]
    events = index.tape.events
    start, _ = steps.span(steps.number_at(born + 1))
    key, kind, line = event_key(index, born), events[born].kind, events[born].line
    rank = sum(1 for at in _alike(index, start, born) if event_key(index, at) == key)
    output = _output(index, born, number)
    found: list[int] = []
    read = 0
    for step in range(1, len(steps) + 1):
        start, stop = steps.span(step)
        seen = 0
        for at in range(start, stop):
            event = events[at]
            if event.kind != kind or event.line != line or event_key(index, at) != key:
                continue
            if seen == rank:
                found += _made(index, at, output)
                break
            seen += 1
        read += stop - start
        if read >= EVENTS_AT_ONCE:
            read = 0
            yield
    return found


def _alike(index: Index, start: int, stop: int) -> Iterator[int]:
    """Yield the events of a stretch that may be as the one that ends it."""
    events = index.tape.events
    last = events[stop]
    for at in range(start, stop):
        if events[at].kind == last.kind and events[at].line == last.line:
            yield at


def _output(index: Index, at: int, number: int) -> int:
    event = index.tape.events[at]
    outputs = index.op(event.ref).outputs if event.kind == "op" else ()
    return outputs.index(number) if number in outputs else 0


def _made(index: Index, at: int, output: int) -> list[int]:
    event = index.tape.events[at]
    if event.kind == "leaf":
        return [event.ref]
    if event.kind == "op":
        return list(index.op(event.ref).outputs[output : output + 1])
    return []


def _snapshots(index: Index, numbers: Sequence[int]) -> Moments:
    made = ((index.created_at[number] + 1, index.values[number].snapshot) for number in numbers)
    return [(position, snapshot) for position, snapshot in made if snapshot is not None]


def _gradients(index: Index, steps: Steps, numbers: Sequence[int]) -> Moments:
    """Return the gradients that reached the values, of an unrolled loop at its end."""
    is_unrolled = len(scenes(index)) == 1
    found: Moments = []
    for number in numbers:
        node = index.values[number].node
        born = index.created_at[number] + 1
        stop = steps.length if is_unrolled else steps.span(steps.number_at(born))[1]
        known = index.gradient(number, stop).snapshot
        runs = [at for at, _ in index.node_runs.get(node, ()) if at < stop] if node else []
        if known is not None:
            # The curve of an unrolled loop counts the steps that made the values.
            found.append((born if is_unrolled or not runs else runs[-1] + 1, known))
    return found


def _leaf_values(index: Index, steps: Steps, home: int) -> Moments:
    found: Moments = []
    for step in range(1, len(steps) + 1):
        _, stop = steps.span(step)
        if index.created_at.get(home, -1) < stop:
            snapshot = index.snapshot_at(home, stop)
            if snapshot is not None:
                found.append((stop, snapshot))
    return found


def _leaf_gradients(index: Index, steps: Steps, home: int) -> Moments:
    latest: dict[int, tuple[int, int]] = {}
    for grad in index.grads.get(home, ()):
        if grad.snapshot is not None:
            latest[steps.number_at(grad.event + 1)] = grad.event + 1, grad.snapshot
    return list(latest.values())


def _root(index: Index) -> str:
    """Return the name of what backward is called on; ``L`` without a name."""
    names = (
        index.values[root].name
        for run in index.tape.passes
        for root in run.roots
        if root is not None
    )
    return next((name for name in names if name), "L")


def _series(index: Index, name: str, moments: Moments) -> list[ScalarSeries]:
    """Return a series of single numbers, one for each of a few elements, else one of norms."""
    held = [(position, index.tape.snapshots[number]) for position, number in moments]
    sizes = {snapshot.numel for _, snapshot in held}
    size = sizes.pop() if len(sizes) == 1 else 0
    if not held:
        return []
    rows = [_numbers(snapshot, size) for _, snapshot in held]
    if 0 < size <= MOST_ELEMENTS and None not in rows:
        names = [name] if size == 1 else [f"{name}{_place(held[0][1], k)}" for k in range(size)]
        columns = [[row[k] for row in rows if row is not None] for k in range(size)]
        dtype = held[0][1].dtype
    else:
        norms = [snapshot_text.norm(snapshot) for _, snapshot in held]
        kept = [k for k, norm in enumerate(norms) if norm is not None]
        held = [held[k] for k in kept]
        names, columns = [f"‖{name}‖"], [[norms[k] or 0.0 for k in kept]]
        dtype = "float32"
    positions = [position for position, _ in held]
    return [
        ScalarSeries(one, 0, dtype, numbers, positions)
        for one, numbers in zip(names, columns, strict=True)
        if numbers
    ]


def _numbers(snapshot: Snapshot, size: int) -> list[float] | None:
    """Return the few real elements of a snapshot; None for others."""
    array = snapshot.array()
    if array is None or array.dtype.kind == "c" or not 0 < size <= MOST_ELEMENTS:
        return None
    return [float(number) for number in array.reshape(-1).tolist()]


def _place(snapshot: Snapshot, at: int) -> str:
    """Return the place of an element as an index: ``[1]``, ``[0, 2]``."""
    if math.prod(snapshot.shape) == 0:
        return ""
    return "[" + ", ".join(str(int(k)) for k in np.unravel_index(at, snapshot.shape)) + "]"
