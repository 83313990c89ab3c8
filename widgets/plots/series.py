"""Numbers over steps that grow without end and are drawn in the same time however many they are.

Beside the numbers stands a pyramid: the least, the greatest and the mean of every 16, 256, 4,096...
of them. A curve that is 800 pixels wide looks at a few thousand entries, never at ten million.
All of it lies in chunks, so that growing never copies what was there, and branches share them.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widgets.plots.chunks import Rows

BRANCH = 16
"""Entries of one level that make one entry of the next."""

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]


class _Level:
    """Least, greatest and mean of every ``block`` numbers; NaN where none of them is finite."""

    def __init__(self, block: int) -> None:
        self.block = block
        self.rows = Rows(np.float32, 3)

    def shared(self) -> "_Level":
        """Return the same, to grow otherwise."""
        other = _Level(self.block)
        other.rows = self.rows.shared()
        return other


class Series:
    """One number per step. Steps may skip, and may be taken back from the end.

    With a ``limit`` it never holds more numbers than that: it keeps those of every second step,
    then of every fourth, and so on.
    """

    def __init__(self, limit: int | None = None) -> None:
        self._limit, self._every = limit, 1
        self._y = Rows(np.float32)
        self._start, self._stride = 0.0, 1.0
        self._x = Rows(np.float64)
        self._even: int | None = None
        """From here on steps stand in ``_x``; before it, and where it is None, they are even."""
        self._size = 0
        self._levels: list[_Level] = []

    def __len__(self) -> int:
        return self._size

    @property
    def first(self) -> float:
        """The step of the first number; 0 where there is none."""
        return float(self.steps(0, 1)[0]) if self._size else 0.0

    @property
    def last(self) -> float:
        """The step of the last number; 0 where there is none."""
        return float(self.steps(self._size - 1, self._size)[0]) if self._size else 0.0

    @property
    def latest(self) -> float:
        """The last number; NaN where there is none."""
        return float(self.numbers(self._size - 1)[0]) if self._size else math.nan

    def clear(self) -> None:
        """Forget everything."""
        self.truncate(0)

    def upto(self, size: int) -> "Series":
        """Return the first ``size`` numbers, to go on otherwise; what both hold is there once.

        Any thread may read it as long as nobody adds to it.
        """
        other = Series(self._limit)
        other._every, other._size = self._every, self._size
        other._start, other._stride, other._even = self._start, self._stride, self._even
        other._y, other._x = self._y.shared(), self._x.shared()
        other._levels = [level.shared() for level in self._levels]
        other.truncate(size)
        return other

    def extend(self, steps: ArrayLike, numbers: ArrayLike) -> None:
        """Add numbers; those whose steps are not after the last one replace what stood there."""
        x = np.asarray(steps, np.float64).reshape(-1)
        with np.errstate(over="ignore"):
            # What is too big for a float32 is infinite here.
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
        """Keep the numbers of fewer steps, evenly."""
        steps, numbers = self.steps(0, self._size), self.numbers()
        while steps.size > limit:
            self._every *= 2
            kept = steps % self._every == 0
            steps, numbers = steps[kept], numbers[kept]
        self.truncate(0)
        self._y, self._levels = Rows(np.float32), []
        self.extend(steps, numbers)

    def cut(self, step: float) -> None:
        """Take back the numbers at ``step`` and after it."""
        self.truncate(self.index(step))

    def truncate(self, size: int) -> None:
        """Keep the first ``size`` numbers."""
        if size < self._size:
            self._size = size
            self._y.cut(size)
            if self._even is not None and size <= self._even:
                self._even, self._x = None, Rows(np.float64)
            self._build(size)

    def _place(self, x: Floats, old: int, new: int) -> None:
        """Note the steps; evenly spaced ones take no memory."""
        if old == 0:
            self._start = float(x[0])
            self._stride = float(x[1] - x[0]) if x.size > 1 else 1.0
        elif old == 1 and self._even is None:
            self._stride = float(x[0]) - self._start
        if self._even is None:
            if np.array_equal(x, self._evenly(old, new)):
                return
            # Only so many are written down that it takes no time to speak of.
            even = old - old % self._x.CHUNK
            self._x.write(0, self._evenly(even, old)[np.newaxis])
            self._even = even
        self._x.write(old - self._even, x[np.newaxis])

    def _evenly(self, start: int, stop: int, every: int = 1) -> Floats:
        return self._start + self._stride * np.arange(start, stop, every, dtype=np.float64)

    def _build(self, start: int) -> None:
        """Bring the pyramid up to date from number ``start`` on."""
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
        """Return the steps of every so many of the numbers ``start`` to ``stop``."""
        if self._even is None:
            return self._evenly(start, stop, every)
        even = self._evenly(start, min(stop, self._even), every)
        start += even.size * every
        if start >= stop:
            return even
        steps = self._x.part(start - self._even, min(stop, self._size) - self._even, every)[0]
        return np.concatenate([even, steps]) if even.size else steps

    def numbers(self, start: int = 0, stop: int | None = None, every: int = 1) -> Singles:
        """Return every so many of the numbers from ``start`` to ``stop``."""
        stop = self._size if stop is None else min(stop, self._size)
        found: Singles = self._y.part(start, stop, every)[0]
        return found

    def index(self, step: float) -> int:
        """Return how many numbers stand before ``step``."""
        even = self._size if self._even is None else self._even
        before = max(0, min(even, math.ceil((step - self._start) / self._stride))) if even else 0
        if self._even is None or before < even:
            return before
        return even + self._x.index(step, self._size - even)

    def nearest(self, step: float) -> tuple[float, float] | None:
        """Return (step, number) of the number whose step is nearest, or None."""
        if not self._size:
            return None
        near = min(self._size - 1, self.index(step))
        x = self.steps(max(0, near - 1), near + 1)
        if x.size > 1 and step - x[0] < x[1] - step:
            near -= 1
        return float(self.steps(near, near + 1)[0]), float(self.numbers(near, near + 1)[0])

    def thinned(self, low: float, high: float, columns: int) -> tuple[Floats, Singles]:
        """Return steps and (3, n) least, greatest and mean of at most ``columns`` stretches.

        They cover the steps from ``low`` to ``high``. Where there are fewer numbers than columns
        each stretch is one number.
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
    """Return least, greatest and mean of the columns between ``edges``, without the NaNs."""
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


def smoothed(numbers: Sequence[float] | Singles, points: float) -> Floats:
    """Return a running mean that forgets: an exponential one with that time constant in points.

    It starts unbiased (its weights sum to one from the first point on), and steps over NaN.
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
