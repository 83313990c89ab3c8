"""Numbers over steps that grow without end and are drawn in the same time however many they are.

Beside the numbers stands a pyramid: the least, the greatest and the mean of every 16, 256, 4,096...
of them. A curve that is 800 pixels wide looks at a few thousand entries, never at ten million.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

BRANCH = 16
"""Entries of one level that make one entry of the next."""
ROOM = 1024

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]


class _Level:
    """Least, greatest and mean of every ``block`` numbers; NaN where none of them is finite."""

    def __init__(self, block: int) -> None:
        self.block = block
        self.rows: Singles = np.full((3, 64), np.nan, np.float32)

    def reserve(self, count: int) -> None:
        """Make room for so many entries."""
        if count > self.rows.shape[1]:
            wider = np.full((3, max(count, 2 * self.rows.shape[1])), np.nan, np.float32)
            wider[:, : self.rows.shape[1]] = self.rows
            self.rows = wider


class Series:
    """One number per step. Steps may skip, and may be taken back from the end.

    With a ``limit`` it never holds more numbers than that: it keeps those of every second step,
    then of every fourth, and so on.
    """

    def __init__(self, limit: int | None = None) -> None:
        self._limit, self._every = limit, 1
        self._y: Singles = np.empty(ROOM, np.float32)
        self._x: Floats | None = None
        self._start, self._stride = 0.0, 1.0
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
        return float(self._y[self._size - 1]) if self._size else math.nan

    def clear(self) -> None:
        """Forget everything."""
        self.truncate(0)

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
        old, new = self._size, self._size + y.size
        self._place(x, old, new)
        if new > self._y.size:
            longer = np.empty(max(new, 2 * self._y.size), np.float32)
            longer[:old] = self._y[:old]
            self._y = longer
        self._y[old:new] = y
        self._size = new
        self._build(old)
        if self._limit is not None and new > self._limit:
            self._thin(self._limit)

    def _thin(self, limit: int) -> None:
        """Keep the numbers of fewer steps, evenly."""
        steps, numbers = self.steps(0, self._size).copy(), self.numbers().copy()
        while steps.size > limit:
            self._every *= 2
            kept = steps % self._every == 0
            steps, numbers = steps[kept], numbers[kept]
        self.truncate(0)
        self._y = np.empty(ROOM, np.float32)
        self._levels = []
        self.extend(steps, numbers)

    def cut(self, step: float) -> None:
        """Take back the numbers at ``step`` and after it."""
        self.truncate(self.index(step))

    def truncate(self, size: int) -> None:
        """Keep the first ``size`` numbers."""
        if size < self._size:
            self._size = size
            if not size:
                self._x = None
            self._build(size)

    def _place(self, x: Floats, old: int, new: int) -> None:
        """Note the steps; evenly spaced ones take no memory."""
        if old == 0:
            self._x = None
            self._start = float(x[0])
            self._stride = float(x[1] - x[0]) if x.size > 1 else 1.0
        elif old == 1 and self._x is None:
            self._stride = float(x[0]) - self._start
        if self._x is None:
            if np.array_equal(x, self._start + self._stride * np.arange(old, new)):
                return
            self._x = np.empty(max(new, ROOM), np.float64)
            self._x[:old] = self._start + self._stride * np.arange(old)
        if new > self._x.size:
            longer = np.empty(max(new, 2 * self._x.size), np.float64)
            longer[:old] = self._x[:old]
            self._x = longer
        self._x[old:new] = x

    def _build(self, start: int) -> None:
        """Bring the pyramid up to date from number ``start`` on."""
        block, depth = BRANCH, 0
        while self._size > block:
            if depth == len(self._levels):
                self._levels.append(_Level(block))
                start = 0
            level = self._levels[depth]
            first, count = start // block, -(-self._size // block)
            level.reserve(count)
            level.rows[:, first:count] = self._summary(depth, first, count)
            block, depth = block * BRANCH, depth + 1
        del self._levels[depth:]

    def _summary(self, depth: int, first: int, count: int) -> Singles:
        if depth == 0:
            y = self._y[first * BRANCH : self._size]
            below = np.broadcast_to(y, (3, y.size))
        else:
            under = self._levels[depth - 1]
            below = under.rows[:, first * BRANCH : -(-self._size // under.block)]
        return _reduced(below, np.arange(0, below.shape[1], BRANCH)[: count - first])

    # Reading

    def steps(self, start: int, stop: int, every: int = 1) -> Floats:
        """Return the steps of every so many of the numbers ``start`` to ``stop``."""
        if self._x is not None:
            return self._x[start:stop:every]
        return self._start + self._stride * np.arange(start, stop, every, dtype=np.float64)

    def numbers(self, start: int = 0, stop: int | None = None) -> Singles:
        """Return the numbers from ``start`` to ``stop``."""
        return self._y[start : self._size if stop is None else min(stop, self._size)]

    def index(self, step: float) -> int:
        """Return how many numbers stand before ``step``."""
        if not self._size:
            return 0
        if self._x is not None:
            return int(np.searchsorted(self._x[: self._size], step))
        return max(0, min(self._size, math.ceil((step - self._start) / self._stride)))

    def nearest(self, step: float) -> tuple[float, float] | None:
        """Return (step, number) of the number whose step is nearest, or None."""
        if not self._size:
            return None
        near = min(self._size - 1, self.index(step))
        x = self.steps(max(0, near - 1), near + 1)
        if x.size > 1 and step - x[0] < x[1] - step:
            near -= 1
        return float(self.steps(near, near + 1)[0]), float(self._y[near])

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
            y = self._y[start:stop]
            return self.steps(start, stop), np.broadcast_to(y, (3, count))
        block, rows = 1, np.broadcast_to(self._y[: self._size], (3, self._size))
        for level in self._levels:
            if count // level.block < 2 * columns:
                break
            block, rows = level.block, level.rows
        first, end = start // block, -(-stop // block)
        edges = first + (np.arange(columns) * (end - first)) // columns
        found = _reduced(rows[:, first:end], edges - first)
        middle = np.minimum((edges + (end - first) / (2 * columns)) * block, self._size - 1)
        return self._interpolated(middle), found

    def _interpolated(self, at: Floats) -> Floats:
        if self._x is not None:
            return self._x[at.astype(np.intp)]
        return self._start + self._stride * at


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
