"""Check a received tape for internal consistency (the engine is untrusted).

Views follow a tape's indices and ids unchecked. So none may point outside of it or form a cycle,
and every buffer must have the length that its shape requires.
"""

import itertools
import math
from collections.abc import Iterable, Iterator
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np
from msgspec import Struct

from gradscribe.engine.protocol import figures
from gradscribe.engine.protocol.tape import (
    INLINE_ELEMENTS,
    Op,
    Place,
    Snapshot,
    StepColumn,
    StepLoop,
    Tape,
)

MAX_DIMENSIONS = 64
"""Dimensions of a tensor: as many as torch allows."""
MAX_ELEMENTS = 1 << 62
MAX_NAME_CHARS = 1000
"""Characters of a name; the engine cuts names to fewer."""
MAX_TEXT_CHARS = 100_000
"""Characters of a text of a few lines."""
MAX_LINES = 1 << 24
MAX_STEPS = 1 << 32
MAX_RANKS = 1 << 16
THUMBNAIL_SIDE = 48
"""Most rows and columns of a thumbnail."""
BATCH = 4096
"""Snapshots checked at a time, a few milliseconds of work."""
_SIZES = {
    name: int(name[2:])
    for name in "|b1 |i1 |u1 <i1 <u1 <i2 <u2 <i4 <u4 <i8 <u8 <f2 <f4 <f8 <c8 <c16".split()
}
"""Bytes per element of the storage dtypes."""

_Index = int | None
_Counted = tuple[str, Iterable[_Index], int]


def find_flaws(tape: Tape) -> Iterator[str]:
    """Yield after each part of the work a short description of a flaw, or an empty text."""
    for start in range(0, len(tape.snapshots), BATCH):
        if not all(map(is_consistent_snapshot, tape.snapshots[start : start + BATCH])):
            yield "a snapshot of the wrong length"
        yield ""
    for texts in _names(tape):
        if max(map(len, set(texts)), default=0) > MAX_NAME_CHARS:
            yield "a name that is too long"
        yield ""
    yield "" if figures.are_bounded(tape.figures) else "figures that are too big"
    yield (
        "a text that is too long"
        if any(len(text) > MAX_TEXT_CHARS for text in _words(tape))
        else ""
    )
    kept = (k.shape for item in tape.nodes for k in item.kept)
    if not all(map(_is_shape, {*_each("shape", tape.values), *kept})):
        yield "an impossible shape"
    if max(map(len, _each("stride", tape.values)), default=0) > MAX_DIMENSIONS:
        yield "an impossible stride"
    yield ""
    for what, numbers, count in chain(_forward(tape), _backward(tape)):
        if not _are_below(numbers, count):
            yield f"{what} that does not exist"
        yield ""
    if _has_dangling_event(tape):
        yield "an event that refers to nothing"
    yield ""
    if len(tape.times) not in (0, len(tape.ops)) or min(tape.times, default=0) < 0:
        yield "times that do not match the ops"
    if any(call.parent is not None and call.parent >= at for at, call in enumerate(tape.calls)):
        yield "a module call inside itself"
    if any(not 0 < first <= last <= MAX_LINES for first, last in chain(tape.loops, *tape.arms)):
        yield "a loop or an arm without lines"
    yield "" if all(map(_is_step_loop, tape.step_loops)) else "an impossible loop"
    if not all(0 < gap.first <= gap.last < MAX_STEPS for gap in tape.gaps):
        yield "steps that do not exist"
    yield "" if _are_ranks(tape) else "an impossible rank"
    yield from _of_ids(tape)
    yield _of_places(tape)


def _are_ranks(tape: Tape) -> bool:
    """Return whether the ranks that a tape speaks of are among those of its run."""
    here = tape.rank
    if here is not None and not (
        0 <= here.rank < here.world <= MAX_RANKS and 0 <= here.line <= MAX_LINES
    ):
        return False
    return all(
        item.number >= 0
        and len(item.group) <= MAX_RANKS
        and _are_below((*item.group, item.root), MAX_RANKS)
        for item in tape.collectives
    )


def _each(name: str, rows: Iterable[Struct]) -> Iterator[Any]:
    return map(attrgetter(name), rows)


def _are_below(numbers: Iterable[_Index], count: int) -> bool:
    """Return whether numbers are None or from 0 up to ``count`` (exclusive)."""
    present = [number for number in numbers if number is not None]
    return not present or (min(present) >= 0 and max(present) < count)


def is_consistent_snapshot(snapshot: Snapshot, most: int = INLINE_ELEMENTS) -> bool:
    """Return whether a snapshot's buffers have the length that its shape and dtype require.

    ``most``: largest number of elements that may come with all their numbers.
    """
    shape, data, thumb = snapshot.shape, snapshot.data, snapshot.thumb
    if not _is_shape(shape):
        return False
    if data is not None:
        count = math.prod(shape)
        if count > most or len(data) != count * _SIZES.get(snapshot.store, -1):
            return False
    rows, columns = snapshot.thumb_shape
    if not (0 <= rows <= THUMBNAIL_SIDE and 0 <= columns <= THUMBNAIL_SIDE):
        return False
    if thumb is not None and len(thumb) != 4 * rows * columns:
        return False
    return snapshot.nan >= 0 and snapshot.inf >= 0


def bytes_of(snapshot: Snapshot) -> int:
    """Return how many bytes all numbers of a tensor take."""
    return snapshot.numel * _SIZES.get(snapshot.store, 4)


def _is_shape(shape: tuple[int, ...]) -> bool:
    if not shape:
        return True
    return len(shape) <= MAX_DIMENSIONS and min(shape) >= 0 and math.prod(shape) <= MAX_ELEMENTS


def _is_step_loop(loop: StepLoop) -> bool:
    """Return whether a loop's steps ascend and its columns have a number for each of theirs."""
    if not (0 < loop.line <= loop.end_line <= MAX_LINES and 0 <= loop.steps < MAX_STEPS):
        return False
    pairs = itertools.pairwise(((0, -1), *loop.full))
    if not all(a[0] < b[0] <= loop.steps and a[1] < b[1] for a, b in pairs):
        return False
    if not all(0 < step <= loop.steps for step, _ in loop.prints):
        return False
    return all(_is_column(column, loop.steps) for column in loop.columns)


def _is_column(column: StepColumn, most: int) -> bool:
    if len(column.steps) % 4 or 2 * len(column.steps) != len(column.numbers):
        return False
    steps = np.frombuffer(column.steps, "<u4").astype(np.int64)
    if not len(steps):
        return True
    return bool(steps[0] > 0 and steps[-1] <= most and (np.diff(steps) > 0).all())


def are_valid_indices(data: bytes, count: int) -> bool:
    """Return whether ``data`` is little-endian int32, each from 0 up to ``count`` (exclusive)."""
    if len(data) % 4:
        return False
    numbers = np.frombuffer(data, "<i4")
    return not len(numbers) or bool(numbers.min() >= 0 and numbers.max() < count)


def _forward(tape: Tape) -> Iterator[_Counted]:
    """Yield the forward part's indices: what they refer to, the indices, the number of items."""
    yield "a snapshot", _each("snapshot", tape.values), len(tape.snapshots)
    yield "an op", _each("op", tape.values), len(tape.ops)
    yield "an op", _each("op", tape.nodes), len(tape.ops)
    yield "a module call", _each("call", tape.ops), len(tape.calls)
    yield "a module call", _each("parent", tape.calls), len(tape.calls)
    yield "a module call", (item.call for item in _fault(tape)), len(tape.calls)
    yield "a snapshot", _each("grad", tape.leaves), len(tape.snapshots)
    yield "a snapshot", (kept for item in tape.rewrites for _, kept in item), len(tape.snapshots)
    yield (
        "a snapshot",
        (kept for item in tape.gaps for _, kept in item.gradients),
        len(tape.snapshots),
    )
    yield "a loop", (item.loop for item in tape.gaps), len(tape.step_loops)
    printed = (number for item in tape.step_loops for _, number in item.prints)
    yield "a line", printed, len(tape.prints)
    memory = (number for item in tape.steps for _, _, number in item.memory)
    yield "a snapshot", memory, len(tape.snapshots)
    yield "an op", _each("op", tape.function_checks), len(tape.ops)
    yield "an op", _each("op", tape.number_cuts), len(tape.ops)
    yield "an op", _each("op", tape.collectives), len(tape.ops)
    yield "a pass", _each("run", tape.collectives), len(tape.passes)
    yield "a group", (item.held + 1 for item in tape.steps), len(tape.held) + 1


def _backward(tape: Tape) -> Iterator[_Counted]:
    edges, executions, sums = tape.edges, tape.executions, tape.accumulations
    snapshots, passes, ends = len(tape.snapshots), len(tape.passes), len(tape.events) + 1
    yield "a snapshot", _each("gradient", edges), snapshots
    yield "a snapshot", (number for item in executions for number in item.received), snapshots
    yield (
        "a snapshot",
        (number for item in sums for number in (item.before, item.sent, item.after)),
        snapshots,
    )
    yield "a snapshot", (number for item in tape.passes for number in item.seeds), snapshots
    yield "an execution", _each("execution", edges), len(executions)
    yield "an edge", (number for item in executions for number in item.edges), len(edges)
    for rows in (edges, executions, sums):
        yield "a pass", _each("run", rows), passes
    yield "an event", _each("made", tape.nodes), ends
    yield "an event", _each("freed", tape.nodes), ends


def _has_dangling_event(tape: Tape) -> bool:
    """Return whether an event refers to a missing item; ids of leaves are checked elsewhere."""
    counts: dict[str, int] = {
        "leaf": 1 << 64,
        "op": len(tape.ops),
        "enter": len(tape.calls),
        "leave": len(tape.calls),
        "backward": len(tape.passes),
        "end": len(tape.passes),
        "node": len(tape.executions),
        "accumulate": len(tape.accumulations),
        "step": len(tape.steps),
        "zero_grad": len(tape.resets),
        "grad": len(tape.rewrites),
        "write": len(tape.writes),
        "gap": len(tape.gaps),
        "print": len(tape.prints),
        "error": 1,
    }
    if not _are_below(_each("line", tape.events), MAX_LINES + 1):
        return True
    refs: dict[str, list[int]] = {kind: [] for kind in counts}
    for event in tape.events:
        refs[event.kind].append(event.ref)
    return not all(_are_below(refs[kind], count) for kind, count in counts.items())


def _of_ids(tape: Tape) -> Iterator[str]:
    """Yield the flaws in the ids of values and backward nodes."""
    values, nodes = {item.id for item in tape.values}, {item.id for item in tape.nodes}
    if len(values) < len(tape.values) or len(nodes) < len(tape.nodes) or values & nodes:
        yield "an id that two things share"
    yield ""
    if not values.issuperset(_values_named(tape)) or not nodes.issuperset(_nodes_named(tape)):
        yield "an id that does not exist"
    yield ""
    both = values | nodes
    if tape.stuck is not None and tape.stuck not in both:
        yield "an error at an id that does not exist"
    after = (next_[0] for item in tape.nodes for next_ in item.next if next_)
    if not both.issuperset(chain(after, (edge.target for edge in tape.edges))):
        yield "an edge to an id that does not exist"
    yield ""
    for op in tape.ops:
        if not op.outputs or (op.inputs and min(op.outputs) <= max(op.inputs)):
            yield "an op without new outputs"
    sent = [edge for item in tape.executions for edge in item.edges]
    if len(set(sent)) < len(sent):
        yield "an edge of two executions"
    if any(op.outputs or op.node is not None or op.nodes for op in _fault(tape)):
        yield "results of a call that failed"
    yield ""
    inputs = {item.node: len(item.received) for item in tape.executions}
    if not all(0 <= edge.input_nr < inputs.get(edge.target, 1 << 32) for edge in tape.edges):
        yield "an edge to an input that does not exist"
    if any(item.output_nr < 0 or item.examples < 0 for item in tape.values):
        yield "a negative output number"


def _names(tape: Tape) -> Iterator[Iterable[str]]:
    """Yield the texts drawn in one line, in groups; messages and printed text may be long."""
    for value in ("name", "dtype", "device", "maker"):
        yield _each(value, tape.values)
    ops = (*tape.ops, *_fault(tape))
    yield (text for item in ops for text in (item.op, item.scope))
    yield (text for item in ops for arg in item.args for text in (arg.text, arg.name, arg.keyword))
    yield (text for item in tape.calls for text in (item.name, item.kind, item.about, *item.hooks))
    entries = (entry for item in tape.calls for entry in item.state)
    yield (text for one in entries for text in (one.name, one.kind, one.dtype, one.device))
    yield (text for item in tape.nodes for text in (item.name, *item.saved))
    yield (kept.name for item in tape.nodes for kept in item.kept)
    yield _each("dtype", tape.snapshots)
    yield _each("name", tape.leaves)
    yield _each("optimizer", tape.steps)
    yield (column.name for item in tape.step_loops for column in item.columns)
    yield (name for item in tape.steps for _, name, _ in item.memory)
    for word in ("title", "description", "name", "file_type", "note"):
        yield (getattr(item, word) for item in tape.figures)
    yield (line.name for item in tape.figures for axes in item.axes for line in axes.lines)
    yield (text for item in tape.collectives for text in (item.kind, item.reduce))
    if tape.rank is not None:
        yield (tape.rank.run, tape.rank.backend)
    yield (text for item in tape.word_lists for text in (item.name, *item.words))
    if tape.error is not None:
        yield (tape.error.type,)


def _words(tape: Tape) -> Iterator[str]:
    """Yield the texts of a few lines; printed text and a fixed program may be long."""
    yield tape.truncated
    yield from (text for item in tape.findings for text in (item.title, item.message, item.why))
    yield from (item.why_no_fix for item in tape.findings)
    if tape.error is not None:
        yield from (tape.error.message, tape.error.hint, *tape.error.trace)


def _fault(tape: Tape) -> tuple[Op, ...]:
    return () if tape.fault is None else (tape.fault,)


def _values_named(tape: Tape) -> Iterator[int]:
    for op in (*tape.ops, *_fault(tape)):
        yield from op.inputs
        yield from op.outputs
        for arg in op.args:
            if arg.value is not None:
                yield arg.value
    yield from (value for item in tape.collectives for value in (*item.inputs, *item.outputs))
    yield from (item.base for item in tape.values if item.base is not None)
    yield from (item.leaf for item in tape.accumulations)
    yield from _each("value", tape.leaves)
    yield from (item.ref for item in tape.events if item.kind == "leaf")
    yield from (leaf for item in tape.resets for leaf in item.leaves)
    for item in tape.passes:
        yield from (value for value in (*item.roots, *item.results) if value is not None)
    yield from (leaf for item in tape.rewrites for leaf, _ in item)
    yield from (leaf for item in tape.gaps for leaf, _ in item.gradients)
    stepped = _each("changes", tape.steps)
    passed = (item.changes for item in tape.gaps)
    for change in chain(*stepped, *passed, *tape.writes):
        yield change.before
        yield change.after
    yield from (item[0] for step in tape.steps for item in step.memory)


def _nodes_named(tape: Tape) -> Iterator[int]:
    yield from (item.node for item in tape.values if item.node is not None)
    yield from (item.node for item in tape.ops if item.node is not None)
    yield from (node for item in tape.ops for node in item.nodes)
    yield from (item.node for item in tape.executions)


def _of_places(tape: Tape) -> str:
    places: Iterable[Place] = chain(
        (item.place for item in (*tape.ops, *_fault(tape))),
        _each("place", tape.values),
        _each("place", tape.collectives),
        (place for item in tape.findings for place in (item.place, *item.related)),
        () if tape.error is None else (tape.error.place,),
    )
    return "" if all(map(is_valid_place, places)) else "an impossible place in the source"


def is_valid_place(place: Place) -> bool:
    """Return whether a place is a valid range of some text."""
    line, column, end_line, end_column = place.line, place.column, place.end_line, place.end_column
    return 0 <= line <= end_line <= MAX_LINES and column >= 0 and end_column >= 0
