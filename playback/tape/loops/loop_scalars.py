"""Scalars that a loop computes again and again, as series over its rounds: a loss, an accuracy."""

import ast
import math
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gradscribe.engine.protocol.messages import ComputedScalar
from gradscribe.engine.protocol.tape import Op, Snapshot, StepLoop, Value
from gradscribe.playback.tape.index import Index
from gradscribe.playback.tape.loops.partial_loops import NumberColumn, main_loop, numbers_of
from gradscribe.playback.tape.loops.steps import steps_of
from gradscribe.playback.text import symbols

LEAST_ROUNDS = 3
"""Fewest rounds of a line that make a series."""
MOST_SERIES = 6
"""Most series that are offered, the likeliest losses first."""
MOST_GROWING = 200_000
"""Most numbers of a running program that are stored; its tape has them all."""
BATCH = 500
"""Events between two pauses."""
LOSS_NAMES = ("loss", "l", "cost", "objective", "error", "err", "nll", "mse")

Key = tuple[int, int, str, bool]
"""Line and column of the op, the variable that backward is called on, and the grad mode.

One function may compute the losses of training and of validation: that makes two series.
"""


@dataclass
class ScalarSeries:
    """The numbers that one line gave to one scalar; round k is the k-th time it did."""

    name: str
    line: int
    dtype: str
    numbers: "list[float] | array[float]" = field(default_factory=list)
    """Exactly as torch has them: every real dtype but int64 past 2**53 fits a float64."""
    positions: "list[int] | array[int]" = field(default_factory=list)
    """The position right after each number was computed, in order."""
    backward: int = 0
    """Number of backward passes that began at it."""
    names: Counter[str] = field(default_factory=Counter)
    """The names its values have on the tape; a local variable's only in the last round."""
    steps: "array[int]" = field(default_factory=lambda: array("q"))
    """The step of each number, if steps of the loop were recorded in part; else empty."""

    def rounds_at(self, position: int) -> int:
        """Return the number of rounds among the first ``position`` events."""
        return bisect_right(self.positions, position)

    def position_of(self, round_: float) -> int:
        """Return the position of a round, counted from 1 and clamped to those there are."""
        return self.positions[min(max(1, math.floor(round_)), len(self.positions)) - 1]

    def exact(self, round_: int) -> str:
        """Return the shortest digits that give exactly the number of a round, in its dtype."""
        number = self.numbers[round_ - 1]
        if not math.isfinite(number):
            return "NaN" if math.isnan(number) else "∞" if number > 0 else "−∞"
        if self.dtype.startswith(("int", "uint")):
            return str(int(number))
        return str(np.float32(number)) if self.dtype == "float32" else str(number)

    @cached_property
    def first_bad(self) -> int:
        """The first round whose number is NaN or infinite; 0 if all are finite.

        Computed once, when the series is complete.
        """
        bad = ~np.isfinite(np.asarray(self.numbers, np.float64))
        return int(bad.argmax()) + 1 if bad.any() else 0


def find_loop_scalars(index: Index, source: str) -> Generator[None, None, tuple[ScalarSeries, ...]]:
    """Return the series of a tape, the likeliest losses first; yield between pieces of work.

    A scalar is a real tensor of one element that forward code computed: one with a name, or one
    that no other op took (``losses.append(mse(p, y).item())``).
    """
    reader = _Reader(index, source)
    for at in range(len(index.tape.events)):
        if at % BATCH == BATCH - 1:
            yield
        reader.read(at)
    for one in reader.found.values():
        one.name = one.names.most_common(1)[0][0] if one.names else one.name
    found = [*reader.found.values()]
    loop = main_loop(index.tape)
    if loop is not None:
        made = _partial_series(index, loop, found, _statement_names(source))
        found = [*made, *found]
    several = [one for one in found if len(one.numbers) >= LEAST_ROUNDS]
    return tuple(sorted(several, key=_rank)[:MOST_SERIES])


def _partial_series(
    index: Index, loop: StepLoop, found: list[ScalarSeries], statements: dict[int, str]
) -> list[ScalarSeries]:
    """Return the series of a loop that was recorded in part, and remove theirs from ``found``.

    ``found`` has what the steps recorded in full computed.
    """
    made: list[ScalarSeries] = []
    for column in map(numbers_of, loop.columns):
        if column.kind not in ("loss", "scalar") or len(column.steps) < LEAST_ROUNDS:
            continue
        is_loss, name = column.kind == "loss", statements.get(column.line, "")
        same = [one for one in found if one.name == name and (one.backward or not is_loss)]
        if is_loss:
            same = same or [one for one in found if one.backward]
        elif not name or any(_is_repeated(column, one) for one in made):
            continue
        first = same[0] if same else ScalarSeries(name or "loss", column.line, "float64")
        numbers = array("d", column.numbers.tobytes())
        series = ScalarSeries(first.name, first.line, first.dtype, numbers)
        series.steps = array("q", column.steps.tobytes())
        series.positions = _positions(index, column, same)
        series.backward = len(series.steps) if is_loss else 0
        made.append(series)
        found[:] = [one for one in found if one not in same]
    return made


def _is_repeated(column: NumberColumn, series: ScalarSeries) -> bool:
    """Return whether a column has the numbers of a series once more: ``losses.append(...)``."""
    _, at, known_at = np.intersect1d(
        column.steps, np.asarray(series.steps), assume_unique=True, return_indices=True
    )
    known = np.asarray(series.numbers, np.float64)[known_at]
    return len(at) == len(column.steps) and np.array_equal(column.numbers[at], known)


def _positions(index: Index, column: NumberColumn, same: list[ScalarSeries]) -> "array[int]":
    """Return the position of each number of a column; of a left-out step the end of its gap."""
    steps = steps_of(index)
    found = array("q", steps.ends_of(column.steps).tobytes())
    for one in same:
        for position in one.positions:
            step = steps.number_at(position)
            at = int(np.searchsorted(column.steps, step))
            if at < len(found) and column.steps[at] == step and steps.is_full(step):
                found[at] = position
    return found


class GrowingScalars:
    """The series of a program that is running, until its tape replaces them."""

    def __init__(self, source: str) -> None:
        self._statements = _statement_names(source)
        self._found: dict[int, ScalarSeries] = {}
        self._size = 0

    def add(self, scalars: Sequence[ComputedScalar]) -> None:
        """Append what a message carries; unnamed scalars are left to the tape."""
        for one in scalars:
            name = self._statements.get(one.called) or self._statements.get(one.line)
            self._size += len(one.numbers)
            if not name or self._size > MOST_GROWING:
                continue
            series = self._found.setdefault(one.key, ScalarSeries(name, one.line, one.dtype))
            series.name = name
            series.backward = int(one.called > 0)
            series.numbers.extend(one.numbers)
            series.positions.extend(one.positions)

    def series(self) -> tuple[ScalarSeries, ...]:
        """Return copies of the series so far, the likeliest losses first."""
        found = [one for one in self._found.values() if len(one.numbers) >= LEAST_ROUNDS]
        return tuple(
            ScalarSeries(o.name, o.line, o.dtype, [*o.numbers], [*o.positions], o.backward)
            for o in sorted(found, key=_rank)[:MOST_SERIES]
        )


class _Reader:
    """Collects the scalars of a tape, event by event."""

    def __init__(self, index: Index, source: str) -> None:
        self._index = index
        self._statements = _statement_names(source)
        self._roots = {root: run for run in index.tape.passes for root in run.roots if root}
        self.found: dict[Key, ScalarSeries] = {}

    def read(self, at: int) -> None:
        """Add the scalars that an event made."""
        index, event = self._index, self._index.tape.events[at]
        if at in index.events_in_passes:
            return
        if event.kind == "op" and index.kinds[event.ref] == "forward":
            op = index.op(event.ref)
            for number in op.outputs:
                self._add(number, at, op)
        elif event.kind == "leaf":
            self._add(event.ref, at, None)

    def _add(self, number: int, at: int, op: Op | None) -> None:
        value, line = self._index.values[number], self._index.tape.events[at].line
        if value.snapshot is None or not _is_scalar(value):
            return
        made = self._statements.get(line)
        called = ""
        if number in self._roots:
            if not value.name or value.name != made:
                called = self._statements.get(self._roots[number].line, "")
        elif not value.name and (op is None or made is None or self._is_used(number)):
            # None is the header of a loop: a data loader draws its seed there.
            return
        scalar = _number(self._index.tape.snapshots[value.snapshot])
        if scalar is None:
            return
        place = op.place if op is not None else value.place
        key = (line, place.column, called, op is None or op.grad_mode)
        if key not in self.found:
            title = symbols.op_title(op) if op is not None else value.maker
            self.found[key] = ScalarSeries(called or made or title, line, value.dtype)
        series = self.found[key]
        series.numbers.append(scalar)
        series.positions.append(at + 1)
        series.backward += number in self._roots
        if value.name:
            series.names[value.name] += 1

    def _is_used(self, number: int) -> bool:
        index = self._index
        return any(index.kinds[user] == "forward" for user in index.users.get(number, ()))


def _is_scalar(value: Value) -> bool:
    if math.prod(value.shape) != 1 or value.dtype == "bool" or value.dtype.startswith("complex"):
        return False
    return value.role != "parameter" and value.maker != ".grad"


def _statement_names(source: str) -> dict[int, str]:
    """Return, for each line of a simple statement, the name of what it makes; else "".

    ``loss = f(x)`` makes ``loss``, ``losses.append(l.item())`` ``losses``, ``return l`` the
    function's value, and ``loss.backward()`` is about ``loss``.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    names: dict[int, str] = {}
    functions: list[tuple[str, ast.AST]] = [("", tree)]
    while functions:
        function, parent = functions.pop()
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, ast.FunctionDef):
                functions.append((node.name, node))
            elif isinstance(node, ast.stmt) and not hasattr(node, "body"):
                name = _made_name(node, function)
                names |= dict.fromkeys(range(node.lineno, (node.end_lineno or 0) + 1), name)
            else:
                functions.append((function, node))
    return names


def _made_name(node: ast.stmt, function: str) -> str:
    if isinstance(node, ast.Return):
        return "" if function == "forward" else function
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        return target.id if isinstance(target, ast.Name) else ""
    if isinstance(node, ast.AugAssign | ast.AnnAssign):
        return node.target.id if isinstance(node.target, ast.Name) else ""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        if isinstance(called, ast.Attribute) and called.attr in ("append", "backward"):
            return called.value.id if isinstance(called.value, ast.Name) else ""
    return ""


def _number(snapshot: Snapshot) -> float | None:
    """Return the number of a snapshot of one element, also where its data was dropped."""
    number = snapshot.item()
    if number is None:
        number = math.nan if snapshot.nan else snapshot.min
    if number is None or isinstance(number, complex):
        return None
    try:
        return float(number)
    except OverflowError:
        return None


def _rank(series: ScalarSeries) -> tuple[bool, int, int, int]:
    words = series.name.lower().split("_")
    exact = series.name.lower() in LOSS_NAMES
    likely = any(word in LOSS_NAMES or word in ("acc", "accuracy") for word in words)
    return (
        not series.backward,
        0 if exact else 1 if likely else 2,
        -len(series.numbers),
        series.line,
    )


def common_rounds(reference: ScalarSeries, other: ScalarSeries) -> list[float]:
    """Return the round of ``reference`` at which each number of ``other`` was computed.

    What was computed several times between two rounds is spread evenly between them. A series of
    another part of the program has its own rounds.
    """
    own = [float(k) for k in range(1, len(other.numbers) + 1)]
    if other is reference:
        return own
    first, last = reference.positions[0], reference.positions[-1]
    if other.positions[-1] < first or (other.positions[0] > last and len(other.numbers) > 1):
        return own
    counts = [reference.rounds_at(position) for position in other.positions]
    rounds: list[float] = []
    start = 0
    while start < len(counts):
        stop = bisect_right(counts, counts[start])
        size = stop - start
        rounds += [counts[start] + step / size for step in range(size)]
        start = stop
    return rounds
