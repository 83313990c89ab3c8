"""Quantiles of each tensor of a run at some of its steps, since the first."""

import numpy as np
from numpy.typing import NDArray

from gradscribe.engine.protocol.training.replies import QUANTILES, ViewReply

MOST_STEPS = 1 << 16
"""Most steps of a table; past it every second is dropped."""
MOST_NUMBERS = 1 << 23
"""Most quantiles of a table, likewise."""


class SpreadTable:
    """Rows of quantiles (float32) and counts, one at each step that was seen.

    Past its limits it drops every second step, and from then on takes every second new one.
    """

    def __init__(self) -> None:
        self.steps: NDArray[np.int64] = np.zeros(0, np.int64)
        self._quantiles: NDArray[np.float32] = np.zeros((0, 0, len(QUANTILES)), np.float32)
        self._counts: NDArray[np.int64] = np.zeros((0, 0, 3), np.int64)
        self._size = 0
        self._every = 1
        self._skipped = 0
        self.generation = 0
        """Increased when steps have been removed."""

    def __len__(self) -> int:
        """Return the number of steps."""
        return self._size

    @property
    def last(self) -> int:
        """The last step; -1 without any."""
        return int(self.steps[self._size - 1]) if self._size else -1

    def add(self, reply: ViewReply) -> None:
        """Add a reply of the view ``spread``; one of an earlier step is dropped."""
        quantiles, counts = reply.arrays["quantiles"].array(), reply.arrays["counts"].array()
        if quantiles.shape[1:] != (len(QUANTILES),) or counts.shape != (len(quantiles), 3):
            return
        if quantiles.shape[0] != self._quantiles.shape[1]:
            self.cut(0)
            self._quantiles = np.zeros((0, *quantiles.shape), np.float32)
            self._counts = np.zeros((0, *counts.shape), np.int64)
            self.steps = np.zeros(0, np.int64)
        if reply.step < self.last:
            return
        if reply.step == self.last:
            self.cut(reply.step)
        elif self._skipped + 1 < self._every:
            self._skipped += 1
            return
        self._skipped = 0
        self._reserve()
        self.steps[self._size] = reply.step
        with np.errstate(over="ignore"):
            self._quantiles[self._size] = quantiles
        self._counts[self._size] = counts
        self._size += 1
        most = min(MOST_STEPS, max(16, MOST_NUMBERS // max(1, quantiles.size)))
        if self._size > most:
            self._thin()

    def _reserve(self) -> None:
        if self._size == len(self.steps):
            more = max(64, self._size)
            self.steps = np.concatenate([self.steps, np.zeros(more, np.int64)])
            for name in ("_quantiles", "_counts"):
                array = getattr(self, name)
                grown = np.zeros((more, *array.shape[1:]), array.dtype)
                setattr(self, name, np.concatenate([array, grown]))

    def _thin(self) -> None:
        # Step 0 and every second one after it stay.
        self._every *= 2
        self.steps = self.steps[: self._size : 2].copy()
        self._quantiles = self._quantiles[: self._size : 2].copy()
        self._counts = self._counts[: self._size : 2].copy()
        self._size = len(self.steps)
        self.generation += 1

    def cut(self, step: int) -> None:
        """Remove ``step`` and what comes after it."""
        size = int(np.searchsorted(self.steps[: self._size], step))
        if size < self._size:
            self._size = size
            self.generation += 1

    def upto(self, step: int, most: int = MOST_NUMBERS) -> "SpreadTable":
        """Return a copy that ends with ``step``, thinned to at most ``most`` quantiles."""
        size, every = int(np.searchsorted(self.steps[: self._size], step, side="right")), 1
        per_step = self._quantiles[0].size if size else 0
        while -(-size // every) * per_step > most and every < size:
            every *= 2
        copy = SpreadTable.of(
            self.steps[:size:every].copy(),
            self._quantiles[:size:every].copy(),
            self._counts[:size:every].copy(),
        )
        copy._every = self._every * every
        return copy

    @classmethod
    def of(
        cls,
        steps: NDArray[np.int64],
        quantiles: NDArray[np.float32],
        counts: NDArray[np.int64],
    ) -> "SpreadTable":
        """Return a table of these arrays, which it takes over.

        Ascending ``steps`` (n,), ``quantiles`` (n, rows, `QUANTILES`), ``counts`` (n, rows, 3).
        """
        table = cls()
        table.steps, table._quantiles, table._counts = steps, quantiles, counts
        table._size = len(steps)
        return table

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.int64]]:
        """Return steps, quantiles and counts as `of` takes them."""
        size = self._size
        return self.steps[:size], self._quantiles[:size], self._counts[:size]

    def rows(self, row: int, start: int = 0) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return steps (n,) and quantiles (n, 7) of a tensor from the index ``start`` on."""
        if row >= self._quantiles.shape[1]:
            return self.steps[:0], np.zeros((0, len(QUANTILES)), np.float32)
        return self.steps[start : self._size], self._quantiles[start : self._size, row]

    def counts(self, row: int) -> tuple[int, int, int]:
        """Return how many numbers, NaN and infinities a tensor had at the last step."""
        if not self._size or row >= self._counts.shape[1]:
            return (0, 0, 0)
        numbers, nan, infinite = self._counts[self._size - 1, row].tolist()
        return numbers, nan, infinite
