"""Snapshots that contain a NaN or an infinity."""

from collections.abc import Iterator

import numpy as np

from gradscribe.engine.protocol.tape import Snapshot
from gradscribe.playback.tape.index import Index

CHUNK_BYTES = 4 << 20
"""Bytes of numbers that are tested at a time."""


def bad_snapshots(index: Index, query: str) -> frozenset[int]:
    """Return the numbers of the snapshots that contain a NaN or an infinity."""
    return index.cached(f"holds {query}", lambda _index: _holding(index.tape.snapshots, query))


def _holding(snapshots: tuple[Snapshot, ...], query: str) -> frozenset[int]:
    """Test small arrays of the same dtype together: there may be tens of thousands."""
    found: set[int] = set()
    small: dict[str, list[int]] = {}
    for number, snapshot in enumerate(snapshots):
        if snapshot.nan or snapshot.inf:
            found |= {number} if (snapshot.nan if query == "nan" else snapshot.inf) else set()
        elif snapshot.data and snapshot.store[1] in "fc":
            small.setdefault(snapshot.store, []).append(number)
    test = np.isnan if query == "nan" else np.isinf
    for store, numbers in small.items():
        for part in _portions(snapshots, numbers):
            sizes = [len(snapshots[n].data or b"") for n in part]
            whole = np.frombuffer(b"".join(snapshots[n].data or b"" for n in part), store)
            starts = np.cumsum([0, *sizes[:-1]]) // whole.itemsize
            hit = np.logical_or.reduceat(test(whole), starts)
            found.update(np.asarray(part)[hit].tolist())
    return frozenset(found)


def _portions(snapshots: tuple[Snapshot, ...], numbers: list[int]) -> Iterator[list[int]]:
    """Yield the numbers in lists whose arrays together have about `CHUNK_BYTES` bytes."""
    taken: list[int] = []
    size = 0
    for number in numbers:
        taken.append(number)
        size += len(snapshots[number].data or b"")
        if size >= CHUNK_BYTES:
            yield taken
            taken, size = [], 0
    if taken:
        yield taken
