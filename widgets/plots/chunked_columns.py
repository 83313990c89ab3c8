"""Append-only columns of numbers in chunks: growing never copies existing chunks."""

import bisect
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

LEAST = 64
"""Initial capacity of a chunk in columns."""

N = TypeVar("N", bound=np.floating[Any])


class ChunkedColumns(Generic[N]):
    """``height`` rows of numbers. Instances can share chunks, which are copied on write."""

    CHUNK = 1 << 16
    """Columns of a chunk; all but the last chunk are full."""

    def __init__(self, kind: type[N], height: int = 1) -> None:
        self._kind, self._height = kind, height
        self._chunks: list[NDArray[N]] = []
        self._own = 0
        """Index of the first chunk that is not shared."""

    def shared(self) -> "ChunkedColumns[N]":
        """Return an independent copy that shares the chunks."""
        other = type(self)(self._kind, self._height)
        other._chunks = self._chunks.copy()
        self._own = other._own = len(self._chunks)
        return other

    def write(self, start: int, columns: NDArray[N]) -> None:
        """Write columns at ``start``, replacing everything from there on."""
        del self._chunks[start // self.CHUNK + 1 :]
        done, count = 0, columns.shape[1]
        while done < count:
            place, at = divmod(start + done, self.CHUNK)
            end = min(self.CHUNK, at + count - done)
            chunk = self._writable(place, at, end)
            chunk[:, at:end] = columns[:, done : done + end - at]
            done += end - at

    def _writable(self, place: int, held: int, needed: int) -> NDArray[N]:
        """Return an unshared chunk for ``needed`` columns, with the first ``held`` retained."""
        before = self._chunks[place] if place < len(self._chunks) else None
        wide = min(LEAST, self.CHUNK) if before is None else before.shape[1]
        if before is not None and needed <= wide and place >= self._own:
            return before
        if needed > wide:
            wide = min(self.CHUNK, max(needed, 2 * wide))
        chunk = np.empty((self._height, wide), self._kind)
        if before is not None:
            chunk[:, :held] = before[:, :held]
        self._chunks[place:] = [chunk]
        self._own = min(self._own, place)
        return chunk

    def cut(self, size: int) -> None:
        """Free the chunks that only contain columns from ``size`` on."""
        del self._chunks[-(-size // self.CHUNK) :]

    def part(self, start: int, stop: int, every: int = 1) -> NDArray[N]:
        """Return the columns ``start:stop:every``, all of which must be written."""
        parts = []
        for place in range(start // self.CHUNK, -(-stop // self.CHUNK)):
            base = place * self.CHUNK
            low = max(start, base)
            low += (start - low) % every
            parts.append(self._chunks[place][:, low - base : stop - base : every])
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts, axis=1) if parts else np.empty((self._height, 0), self._kind)

    def at(self, places: NDArray[np.intp]) -> NDArray[N]:
        """Return the columns at these indices."""
        found = np.empty((self._height, places.size), self._kind)
        chunks = places // self.CHUNK
        for chunk in np.unique(chunks):
            here = chunks == chunk
            found[:, here] = self._chunks[chunk][:, places[here] - chunk * self.CHUNK]
        return found

    def index(self, number: float, size: int) -> int:
        """Return how many of the first ``size`` numbers of the first, ascending row are less."""
        chunks = self._chunks[: -(-size // self.CHUNK)]
        place = bisect.bisect_left(chunks, number, key=lambda chunk: float(chunk[0, 0]))
        if not place:
            return 0
        base = (place - 1) * self.CHUNK
        return base + int(np.searchsorted(chunks[place - 1][0, : size - base], number))
