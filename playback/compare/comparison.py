"""Comparison of two tapes: what differs first, what follows from it, and matching positions.

Actions are aligned (`alignment`), leaves by their names; values and gradients are compared to the
bit and traced to their causes (`causes`).
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property

from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.compare.alignment import Block, align
from gradscribe.playback.compare.causes import CauseTracer
from gradscribe.playback.compare.differences import Cause, Difference
from gradscribe.playback.compare.ledger import Side
from gradscribe.playback.tape.index import Index, index_of
from gradscribe.playback.translation import ngettext, tr

SAME = tr("Both runs are the same, every value and every gradient")


class Comparison:
    """All differences between two tapes, in order of execution, by their causes."""

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
        self._blocks = align(self.left, self.right)
        self.ops = list(_op_pairs(self._blocks))
        """Pairs of ops; None where the other tape has no such op."""
        told(0.4)
        self.leaves = _same_leaves(self.left, self.right)

    def compute_all(self) -> None:
        """Compute the lazy properties now, for use in a worker thread."""
        _ = self.differences, self._anchors, self._back_anchors
        self._report(1.0)

    @cached_property
    def causes(self) -> tuple[Cause, ...]:
        """Causes in order of execution, each with what follows from it."""
        tracer = CauseTracer(Side(self.left), Side(self.right), self.leaves)
        tracer.trace(self._blocks, lambda share: self._report(0.4 + 0.5 * share))
        return tracer.ledger.causes()

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """All differences: each cause, then what follows from it."""
        return tuple(
            difference
            for cause in self.causes
            for difference in (*cause.differences, *cause.following)
        )

    def summary(self) -> str:
        """Return what differs first and the numbers of all differences, in a line."""
        if not self.causes:
            return SAME
        first = self.causes[0].title()
        parts = [
            tr("First at {first}", first=first)
            if first.startswith("line")
            else tr("First {first}", first=first)
        ]
        failing = [
            side
            for side in ("left", "right")
            if any(one.kind == f"{side} fails" for one in self.differences)
        ]
        if failing:
            both = len(failing) > 1
            parts.append(
                tr("both fail, differently")
                if both
                else tr("only the {failing} fails", failing=failing[0])
            )
        parts += [text for text in (self.causes[0].consequence(failures=False),) if text]
        if len(self.causes) > 1:
            parts.append(
                ngettext("{count:,} other cause", "{count:,} other causes", len(self.causes) - 1)
            )
        return " · ".join(parts)

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


def _op_pairs(blocks: list[Block]) -> Iterator[tuple[int | None, int | None]]:
    """Yield the ops of blocks in order, those of one run with None."""
    for block in blocks:
        left = [action.ref for action in block.left if action.kind == "op"]
        right = [action.ref for action in block.right if action.kind == "op"]
        if block.is_pair:
            yield from zip(left, right, strict=True)
        else:
            yield from ((op, None) for op in left)
            yield from ((None, op) for op in right)


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
