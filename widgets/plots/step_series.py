"""Unbounded series of numbers over steps that is drawn in constant time, whatever its length.

A pyramid holds the minimum, maximum and mean of every 16, 256, 4,096... numbers. A curve that is
800 pixels wide reads a few thousand entries, never ten million. Everything is stored in chunks, so
that growing never copies and forks share them.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradscribe.widgets.plots.chunked_columns import ChunkedColumns

BRANCH = 16
"""Entries of a level per entry of the next."""

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]


class _Level:
    """Minimum, maximum and mean of every ``block`` numbers; NaN if all of them are NaN."""

    def __init__(self, block: int) -> None:
        self.block = block
        self.rows = ChunkedColumns(np.float32, 3)

    def shared(self) -> "_Level":
        """Return an independent copy that shares the chunks."""
        other = _Level(self.block)
        other.rows = self.rows.shared()
        return other


class StepSeries:
    """A number per step. Steps may have gaps, and may be removed from the end.

    With a ``limit`` it is thinned to at most as many numbers: to those of every second step, then
    of every fourth, and so on.
    """

    def __init__(self, limit: int | None = None) -> None:
        self._limit, self._every = limit, 1
        self._y = ChunkedColumns(np.float32)
        self._start, self._stride = 0.0, 1.0
        self._x = ChunkedColumns(np.float64)
        self._even: int | None = None
        """Index from which on steps are stored in ``_x``; before it (None: all) they are even."""
        self._size = 0
        self._levels: list[_Level] = []

    def __len__(self) -> int:
        return self._size

    @property
    def first(self) -> float:
        """The step of the first number; 0 if empty."""
        return float(self.steps(0, 1)[0]) if self._size else 0.0

    @property
    def last(self) -> float:
        """The step of the last number; 0 if empty."""
        return float(self.steps(self._size - 1, self._size)[0]) if self._size else 0.0

    @property
    def latest(self) -> float:
        """The last number; NaN if empty."""
        return float(self.numbers(self._size - 1)[0]) if self._size else math.nan

    def clear(self) -> None:
        """Remove all numbers."""
        self.truncate(0)

    def upto(self, size: int) -> "StepSeries":
        """Return an independent series of the first ``size`` numbers, sharing their chunks.

        Any thread may read it as long as nothing is added to it.
        """
        other = StepSeries(self._limit)
        other._every, other._size = self._every, self._size
        other._start, other._stride, other._even = self._start, self._stride, self._even
        other._y, other._x = self._y.shared(), self._x.shared()
        other._levels = [level.shared() for level in self._levels]
        other.truncate(size)
        return other

    def extend(self, steps: ArrayLike, numbers: ArrayLike) -> None:
        """Add numbers; if their steps begin before the last step, the rest is replaced."""
        x = np.asarray(steps, np.float64).reshape(-1)
        with np.errstate(over="ignore"):
            # Numbers too big for float32 become infinite.
            y = np.asarray(numbers, np.float32).reshape(-1)
        if x.size and self._size and x[0] <= self.last:
            self.cut(float(x[0]))
        if self._every > 1:
            kept = x % self._every == 0
            x, y = x[kept], y[kept]
        if not x.size:
            return
        old = self._size
        self._place(x, old, old + y.size)
        self._y.write(old, y[np.newaxis])
        self._size = old + y.size
        self._build(old)
        if self._limit is not None and self._size > self._limit:
            self._thin(self._limit)

    def _thin(self, limit: int) -> None:
        """Thin the series to at most ``limit`` numbers, evenly."""
        steps, numbers = self.steps(0, self._size), self.numbers()
        while steps.size > limit:
            self._every *= 2
            kept = steps % self._every == 0
            steps, numbers = steps[kept], numbers[kept]
        self.truncate(0)
        self._y, self._levels = ChunkedColumns(np.float32), []
        self.extend(steps, numbers)

    def cut(self, step: float) -> None:
        """Remove the numbers at ``step`` and after it."""
        self.truncate(self.index(step))

    def truncate(self, size: int) -> None:
        """Remove all but the first ``size`` numbers."""
        if size < self._size:
            self._size = size
            self._y.cut(size)
            if self._even is not None and size <= self._even:
                self._even, self._x = None, ChunkedColumns(np.float64)
            self._build(size)

    def _place(self, x: Floats, old: int, new: int) -> None:
        """Store the steps; evenly spaced steps take no memory."""
        if old == 0:
            self._start = float(x[0])
            self._stride = float(x[1] - x[0]) if x.size > 1 else 1.0
        elif old == 1 and self._even is None:
            self._stride = float(x[0]) - self._start
        if self._even is None:
            if np.array_equal(x, self._evenly(old, new)):
                return
            # Only the steps of the last chunk are written out, to bound the time.
            even = old - old % self._x.CHUNK
            self._x.write(0, self._evenly(even, old)[np.newaxis])
            self._even = even
        self._x.write(old - self._even, x[np.newaxis])

    def _evenly(self, start: int, stop: int, every: int = 1) -> Floats:
        return self._start + self._stride * np.arange(start, stop, every, dtype=np.float64)

    def _build(self, start: int) -> None:
        """Update the pyramid from index ``start`` on."""
        block, depth = BRANCH, 0
        while self._size > block:
            if depth == len(self._levels):
                self._levels.append(_Level(block))
                start = 0
            level = self._levels[depth]
            first, count = start // block, -(-self._size // block)
            level.rows.write(first, self._summary(depth, first, count))
            block, depth = block * BRANCH, depth + 1
        del self._levels[depth:]

    def _summary(self, depth: int, first: int, count: int) -> Singles:
        if depth == 0:
            y = self._y.part(first * BRANCH, self._size)
            below = np.broadcast_to(y, (3, y.shape[1]))
        else:
            under = self._levels[depth - 1]
            below = under.rows.part(first * BRANCH, -(-self._size // under.block))
        return _reduced(below, np.arange(0, below.shape[1], BRANCH)[: count - first])

    # Reading

    def steps(self, start: int, stop: int, every: int = 1) -> Floats:
        """Return the steps of the numbers ``start:stop:every``."""
        if self._even is None:
            return self._evenly(start, stop, every)
        even = self._evenly(start, min(stop, self._even), every)
        start += even.size * every
        if start >= stop:
            return even
        steps = self._x.part(start - self._even, min(stop, self._size) - self._even, every)[0]
        return np.concatenate([even, steps]) if even.size else steps

    def numbers(self, start: int = 0, stop: int | None = None, every: int = 1) -> Singles:
        """Return the numbers ``start:stop:every``."""
        stop = self._size if stop is None else min(stop, self._size)
        found: Singles = self._y.part(start, stop, every)[0]
        return found

    def index(self, step: float) -> int:
        """Return how many numbers are before ``step``."""
        even = self._size if self._even is None else self._even
        before = max(0, min(even, math.ceil((step - self._start) / self._stride))) if even else 0
        if self._even is None or before < even:
            return before
        return even + self._x.index(step, self._size - even)

    def nearest(self, step: float) -> tuple[float, float] | None:
        """Return (step, number) with the nearest step; None if empty."""
        if not self._size:
            return None
        near = min(self._size - 1, self.index(step))
        x = self.steps(max(0, near - 1), near + 1)
        if x.size > 1 and step - x[0] < x[1] - step:
            near -= 1
        return float(self.steps(near, near + 1)[0]), float(self.numbers(near, near + 1)[0])

    def summary(self, low: float, high: float, columns: int) -> tuple[Floats, Singles]:
        """Return steps and (3, n) minimum, maximum and mean of at most ``columns`` intervals.

        They cover the steps from ``low`` to ``high``. With fewer numbers than columns each interval
        is a single number.
        """
        start, stop = self.index(low), min(self._size, self.index(high) + 1)
        count = stop - start
        if count <= 0:
            return np.empty(0), np.empty((3, 0), np.float32)
        if count <= columns:
            return self.steps(start, stop), np.broadcast_to(self._y.part(start, stop), (3, count))
        block, found = 1, self._y
        for level in self._levels:
            if count // level.block < 2 * columns:
                break
            block, found = level.block, level.rows
        first, end = start // block, -(-stop // block)
        rows = found.part(first, end)
        edges = first + (np.arange(columns) * (end - first)) // columns
        summed = _reduced(np.broadcast_to(rows, (3, rows.shape[1])), edges - first)
        middle = np.minimum((edges + (end - first) / (2 * columns)) * block, self._size - 1)
        return self._interpolated(middle), summed

    def _interpolated(self, at: Floats) -> Floats:
        steps = self._start + self._stride * at
        if self._even is not None:
            written = at >= self._even
            steps[written] = self._x.at(at[written].astype(np.intp) - self._even)[0]
        return steps


def _reduced(below: NDArray[np.float32], edges: NDArray[np.intp]) -> Singles:
    """Return minimum, maximum and mean of the columns between ``edges``, ignoring NaN."""
    lengths = np.diff(np.append(edges, below.shape[1]))
    means = below[2]
    holes = np.isnan(means)
    if holes.any():
        lengths = np.add.reduceat((~holes).astype(np.intp), edges)
        means = np.where(holes, np.float32(0), means)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        mean = np.add.reduceat(means, edges, dtype=np.float64) / lengths
        return np.stack(
            [
                np.fmin.reduceat(below[0], edges),
                np.fmax.reduceat(below[1], edges),
                mean.astype(np.float32),
            ]
        )


def exponential_average(numbers: Sequence[float] | Singles, points: float) -> Floats:
    """Return the exponential moving average with a time constant of ``points`` points.

    It is bias-corrected (its weights sum to one from the first point on), and skips NaN.
    """
    y = np.asarray(numbers, np.float64)
    if points <= 0:
        return y
    keep = math.exp(-1.0 / points)
    total, weight = 0.0, 0.0
    found = np.empty_like(y)
    for place, number in enumerate(y.tolist()):
        if math.isfinite(number):
            total = keep * total + (1 - keep) * number
            weight = keep * weight + (1 - keep)
        found[place] = total / weight if weight else math.nan
    return found
