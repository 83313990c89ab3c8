"""Comparison of two tapes: alignment of their ops, and the differences between them.

Ops are aligned (`difflib.SequenceMatcher`) by op name, the name of their result, the module they
ran in and their number of inputs; leaves by their names. Values and gradients are compared to the
bit.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from functools import cached_property
from operator import attrgetter
from typing import Literal

import numpy as np
from msgspec import Struct

from gradscribe.engine.protocol.tape import Snapshot, Tape
from gradscribe.playback.graph.coloring import ColorLegend, Tint
from gradscribe.playback.graph.picture import Card, CardLook
from gradscribe.playback.tape import snapshot_text
from gradscribe.playback.tape.index import Index, index_of
from gradscribe.playback.text import formatting

Kind = Literal["value", "gradient", "left", "right", "left fails", "right fails"]
"""*left*, *right*: an op that only this tape has. *fails*: the program of this tape ended early."""
PAIRS_PER_REPORT = 100
"""Progress is reported once per this many pairs."""
GROUPS = ("Value differs", "Only on this side", "Gradient differs")
_COLOURS: dict[Kind, int] = {"value": 0, "left": 1, "right": 1, "gradient": 2}
"""Kind of difference -> index in `GROUPS`."""
_FAILS = 1
"""Index in `GROUPS` of the card in which a program failed."""
_Token = tuple[str, str, str, int]
_summary = attrgetter("mean", "std", "min", "max", "nan", "inf", "thumb")


class Difference(Struct, frozen=True):
    """A difference: values (ids) on the left and the right, None where a side has no value."""

    kind: Kind
    name: str
    words: str
    left: int | None
    right: int | None


class Comparison:
    """All differences between two tapes, in order of execution."""

    def __init__(
        self,
        left: Tape | Index,
        right: Tape | Index,
        told: Callable[[float], object] = lambda _share: None,
    ) -> None:
        """``told`` gets the share of work done (0 to 1); an exception that it raises aborts."""
        self._report = told
        told(0.0)
        self.left = index_of(left)
        told(0.1)
        self.right = index_of(right)
        told(0.2)
        self.ops = _aligned(self.left, self.right)
        """Pairs of ops; None where the other tape has no such op."""
        told(0.4)
        self.leaves = _same_leaves(self.left, self.right)

    def compute_all(self) -> None:
        """Compute the lazy properties now, for use in a worker thread."""
        _ = self.differences, self._anchors, self._back_anchors
        self._report(1.0)

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """All differences: failures, then leaves and values, then gradients, in op order."""
        values, gradients = list(self._failures()), []
        count = len(self.leaves) + len(self.ops)
        for n, (a, b) in enumerate(self._pairs()):
            if n % PAIRS_PER_REPORT == 0:
                self._report(0.4 + 0.5 * n / count)
            if a is None or b is None:
                values.append(self._alone(a, b))
                continue
            numbers = self._snapshots(a, b, "value")
            if words := _words(*numbers):
                values.append(Difference("value", _name(self.left, a), words, a, b))
            if words := _words(*self._snapshots(a, b, "gradient")):
                gradients.append(Difference("gradient", _name(self.left, a), words, a, b))
        return (*values, *gradients)

    def summary(self) -> str:
        """Return a one-line summary of the differences."""
        counts: dict[str, int] = defaultdict(int)
        for difference in self.differences:
            counts["op" if difference.kind in ("left", "right") else difference.kind] += 1
        if not counts:
            return "Both runs are the same, every value and every gradient"
        parts = [f"only the {side} fails" for side in ("left", "right") if counts[f"{side} fails"]]
        parts = ["both fail, differently"] if len(parts) > 1 else parts
        parts += [
            formatting.count(counts[kind], noun) + tail
            for kind, noun, tail in (
                ("op", "op", " on one side only"),
                ("value", "value", ""),
                ("gradient", "gradient", ""),
            )
            if counts[kind]
        ]
        parts[0] = parts[0][0].upper() + parts[0][1:]
        return " · ".join(parts) + " differ" * (counts["value"] + counts["gradient"] > 0)

    def before(self, difference: Difference) -> Iterator[tuple[int, int]]:
        """Yield pairs of results of both tapes before a one-sided difference, the latest first."""
        is_left = difference.kind in ("left", "left fails")
        value = difference.left if is_left else difference.right
        index = self.left if is_left else self.right
        op = index.values[value].op if value is not None else None
        passed = op is None
        for a, b in reversed(self.ops):
            if passed and a is not None and b is not None:
                made = zip(self.left.op(a).outputs[:1], self.right.op(b).outputs[:1], strict=False)
                yield from made
            passed = passed or (a if is_left else b) == op

    def matching_position(self, position: int, from_left: bool = True) -> int:
        """Return the position on the other tape that corresponds to a position on this one."""
        here, there = (self.left, self.right) if from_left else (self.right, self.left)
        if position >= len(here.tape.events):
            return len(there.tape.events)
        anchors = self._anchors if from_left else self._back_anchors
        found = bisect_left(anchors, (position, -1))
        return anchors[found - 1][1] + 1 if found else 0

    @cached_property
    def _anchors(self) -> list[tuple[int, int]]:
        """Pairs of corresponding events, strictly increasing in both members."""
        pairs = []
        for a, b in self.ops:
            if a is None or b is None:
                continue
            pairs.append((self.left.op_events.get(a), self.right.op_events.get(b)))
            pairs += zip(_runs(self.left, a), _runs(self.right, b), strict=False)
        for a, b in self.leaves:
            pairs.append((self.left.created_at.get(a), self.right.created_at.get(b)))
            pairs += zip(_arrivals(self.left, a), _arrivals(self.right, b), strict=False)
        return _growing(pairs)

    @cached_property
    def _back_anchors(self) -> list[tuple[int, int]]:
        return _growing([(b, a) for a, b in self._anchors])

    def _pairs(self) -> Iterator[tuple[int | None, int | None]]:
        yield from self.leaves
        for a, b in self.ops:
            left_outputs = self.left.op(a).outputs[:1] if a is not None else (None,)
            right_outputs = self.right.op(b).outputs[:1] if b is not None else (None,)
            if left_outputs and right_outputs:
                yield left_outputs[0], right_outputs[0]

    def _failures(self) -> Iterator[Difference]:
        """Yield the failure of each side, unless both ended in the same way."""
        ends = [_end(index) for index in (self.left, self.right)]
        sides: tuple[Kind, Kind] = ("left fails", "right fails")
        for kind, (name, words) in zip(sides, ends if ends[0] != ends[1] else (), strict=False):
            if words:
                yield Difference(kind, name, words, None, None)

    def _alone(self, a: int | None, b: int | None) -> Difference:
        index, value = (self.left, a) if a is not None else (self.right, b)
        result = index.values[value] if value is not None else None
        op = index.op(result.op).op if result is not None and result.op is not None else ""
        line = f"line {result.place.line}" if result is not None and result.place.line else ""
        name = _name(index, value) if value is not None else ""
        words = " · ".join(part for part in (op if op not in name else "", line) if part)
        return Difference("left" if a is not None else "right", name, words, a, b)

    def _snapshots(
        self, a: int, b: int, kind: Literal["value", "gradient"]
    ) -> tuple[Snapshot | None, Snapshot | None]:
        snapshots = []
        for index, value in ((self.left, a), (self.right, b)):
            end = len(index.tape.events)
            at = index.values[value].snapshot
            if kind == "gradient":
                at = index.gradient(value, end).snapshot
            snapshots.append(index.snapshot(at))
        return snapshots[0], snapshots[1]


class DifferenceTinter:
    """The differences as tints for the cards of one side's picture."""

    def __init__(self, compared: Comparison, left: bool) -> None:
        self._index = compared.left if left else compared.right
        fails = "left fails" if left else "right fails"
        self._fails = any(difference.kind == fails for difference in compared.differences)
        self._found: dict[int, list[Difference]] = defaultdict(list)
        for difference in compared.differences:
            value = difference.left if left else difference.right
            if value is not None:
                self._found[value].append(difference)

    def tint(self, card: Card, look: CardLook | None) -> Tint | None:
        """Return the differences of a card up to the position; None for none."""
        if look is None or not look.reached:
            return None
        if card.failed and look.failed and self._fails:
            return Tint("fails here", "groups", group=_FAILS, alarm=True)
        values = [card.value] if not card.ops else []
        values += [value for op in card.ops for value in self._index.op(op).outputs[:1]]
        found = [
            item for value in values if value is not None for item in self._found.get(value, ())
        ]
        if look.gradient is None:
            found = [item for item in found if item.kind != "gradient"]
        if not found:
            return None
        group = _COLOURS[found[0].kind]
        if card.kind == "module":
            return Tint(f"≠ {len(found)} inside", "groups", group=group, alarm=True)
        kinds = [item.kind for item in found]
        if kinds[0] in ("left", "right"):
            return Tint("only here", "groups", group=group, alarm=True)
        words = " and ".join(dict.fromkeys(kinds))
        return Tint(f"≠ {words}", "groups", group=group, alarm=True)

    def key(self) -> ColorLegend:
        """Return the legend of the colours."""
        return ColorLegend("What differs", "groups", groups=GROUPS)


def _end(index: Index) -> tuple[str, str]:
    """Return the call in which a program failed and the error; empty strings if it did not fail."""
    problem, call = index.tape.error, index.tape.fault
    if problem is None:
        return "", ""
    name = problem.type if call is None else call.op + (f" in {call.scope}" if call.scope else "")
    line = f"line {problem.place.line}" if problem.place.line else ""
    message = problem.message.strip().partition("\n")[0]
    return name, " · ".join(part for part in (message, line) if part) or problem.type


def _name(index: Index, value: int) -> str:
    """Return a value's name; without a name the op that made it and its module."""
    result = index.values[value]
    if result.name or result.op is None:
        return result.name or result.maker
    op = index.op(result.op)
    return f"{op.op} in {op.scope}" if op.scope else op.op


def _token(index: Index, number: int) -> _Token:
    op = index.op(number)
    name = index.values[op.outputs[0]].name if op.outputs else ""
    return op.op, name, op.scope, len(op.inputs)


def _aligned(left: Index, right: Index) -> list[tuple[int | None, int | None]]:
    """Return aligned pairs of forward ops in order; unmatched ops are paired with None."""
    first = [n for n, kind in enumerate(left.kinds) if kind == "forward"]
    second = [n for n, kind in enumerate(right.kinds) if kind == "forward"]
    a, b = [_token(left, n) for n in first], [_token(right, n) for n in second]
    head = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    pairs: list[tuple[int | None, int | None]] = list(zip(first[:head], second[:head], strict=True))
    stop_a, stop_b = len(a) - tail, len(b) - tail
    matcher = SequenceMatcher(None, a[head:stop_a], b[head:stop_b], autojunk=len(a) > 2000)
    for tag, i, j, k, m in matcher.get_opcodes():
        left_ops, right_ops = first[head + i : head + j], second[head + k : head + m]
        if tag == "equal":
            pairs += zip(left_ops, right_ops, strict=True)
        else:
            pairs += [(op, None) for op in left_ops] + [(None, op) for op in right_ops]
    return [*pairs, *zip(first[stop_a:], second[stop_b:], strict=True)]


def _same_leaves(left: Index, right: Index) -> list[tuple[int, int]]:
    """Return pairs of leaves with the same name; among several of a name the n-th with the n-th."""

    def named(index: Index) -> dict[tuple[str, int], int]:
        found: dict[tuple[str, int], int] = {}
        counts: dict[str, int] = defaultdict(int)
        for value in index.tape.values:
            # The first version known: a module's parameters were initialised in place before.
            if value.op is None and value.name and index.first_version(value.id) == value.id:
                found[value.name, counts[value.name]] = value.id
                counts[value.name] += 1
        return found

    there = named(right)
    return [(value, there[name]) for name, value in named(left).items() if name in there]


def _runs(index: Index, op: int) -> list[int]:
    """Return the events at which an op's backward node ran."""
    node = index.op(op).node
    return [event for event, _ in index.node_runs.get(node, ())] if node is not None else []


def _arrivals(index: Index, leaf: int) -> list[int]:
    """Return the events at which a leaf's gradient was added to."""
    return [event for event, _ in index.accumulated.get(index.first_version(leaf), ())]


def _growing(pairs: list[tuple[int | None, int | None]]) -> list[tuple[int, int]]:
    increasing: list[tuple[int, int]] = []
    for a, b in sorted((a, b) for a, b in pairs if a is not None and b is not None):
        if not increasing or (a > increasing[-1][0] and b > increasing[-1][1]):
            increasing.append((a, b))
    return increasing


def _words(a: Snapshot | None, b: Snapshot | None) -> str:
    """Return the difference of two snapshots as text; empty where they are equal to the bit."""
    if a is None or b is None:
        return (
            ""
            if a is b
            else f"{snapshot_text.value(a) or 'none'} → {snapshot_text.value(b) or 'none'}"
        )
    if a.dtype != b.dtype:
        return f"{a.dtype} → {b.dtype}"
    if a.shape != b.shape:
        return f"{formatting.shape(a.shape)} → {formatting.shape(b.shape)}"
    left, right = a.array(), b.array()
    if left is None or right is None:
        return (
            ""
            if _summary(a) == _summary(b)
            else f"norm {formatting.number(a.norm)} → {formatting.number(b.norm)}"
        )
    if left.tobytes() == right.tobytes():
        return ""
    if left.size == 1:
        return f"{formatting.number(a.item())} → {formatting.number(b.item())}"
    with np.errstate(all="ignore"):
        wide = "c16" if left.dtype.kind == "c" else "f8"
        distance = float(np.linalg.norm((right.astype(wide) - left.astype(wide)).ravel()))
    return f"apart by {formatting.number(distance)}"
