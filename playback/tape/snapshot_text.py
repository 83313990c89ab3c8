"""Short texts of snapshots, to fit next to a line, in a table row or in a sentence."""

import math
from collections.abc import Callable

import numpy as np

from gradscribe.engine.protocol.tape import Arg, Snapshot
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import formatting

LONGEST_LITERAL = 12
"""Most characters of a literal that is shown as typed; longer ones were probably computed."""
UNKNOWN = "?"
"""Text of hidden numbers."""
MAX_WRITTEN_ELEMENTS = 4
"""Most elements of a tensor that is written out."""


def value(snapshot: Snapshot | None) -> str:
    """Return ``2.0000`` for one number, ``[1, 2, 3]`` for a few, else the shape; "" for None."""
    if snapshot is None:
        return ""
    written = _written(snapshot)
    return written if written is not None else formatting.shape(snapshot.shape)


def gradient(snapshot: Snapshot | None) -> str:
    """Return a gradient like a value, but the norm, as ``∇ 0.1230``, where it is a big tensor."""
    if snapshot is None:
        return ""
    written = _written(snapshot)
    if written is not None:
        return written
    size = norm(snapshot)
    return f"∇ {formatting.number(size)}" if size is not None else formatting.shape(snapshot.shape)


class SnapshotTexts:
    """Cache of the short texts of one tape's snapshots."""

    def __init__(self, index: Index) -> None:
        self._snapshots = index.tape.snapshots
        self._values: dict[int, str] = {}
        self._gradients: dict[int, str] = {}

    def value(self, number: int | None) -> str:
        """Return `value` of a snapshot, given by its number."""
        return self._once(number, self._values, value)

    def gradient(self, number: int | None) -> str:
        """Return `gradient` of a snapshot, given by its number."""
        return self._once(number, self._gradients, gradient)

    def _once(
        self, number: int | None, cache: dict[int, str], write: Callable[[Snapshot | None], str]
    ) -> str:
        if number is None:
            return ""
        if number not in cache:
            cache[number] = write(self._snapshots[number])
        return cache[number]


def cached_texts(index: Index) -> SnapshotTexts:
    """Return the cached texts of a tape's snapshots."""
    return index.cached("written", SnapshotTexts)


def norm(snapshot: Snapshot) -> float | None:
    """Return the Euclidean norm over all elements; None where it is not known."""
    if snapshot.norm is not None:
        return snapshot.norm
    array = snapshot.array()
    if array is None:
        return None
    return float((abs(array.astype("c16" if array.dtype.kind == "c" else "f8")) ** 2).sum() ** 0.5)


def distance(before: Snapshot | None, after: Snapshot | None) -> float | None:
    """Return the Euclidean norm of a change, in float64; None if an array is not on the tape.

    In the tensor's own type the squares of a half-precision change beyond 255 are infinite, and a
    difference of unsigned integers wraps around.
    """
    a = before.array() if before is not None else None
    b = after.array() if after is not None else None
    if a is None or b is None or a.shape != b.shape:
        return None
    with np.errstate(all="ignore"):
        return float(np.linalg.norm((b.astype("c16") - a.astype("c16")).ravel()))


def literal(arg: Arg) -> str:
    """Return a number as it was typed; a computed float is cut to seven digits."""
    written, x = arg.text, arg.number
    if isinstance(x, float) and len(written) > LONGEST_LITERAL and math.isfinite(x):
        written = f"{x:.7g}"
    return written.replace("-", formatting.MINUS)


def _written(snapshot: Snapshot) -> str | None:
    if snapshot.is_hidden:
        return UNKNOWN
    if snapshot.numel == 1 and (number := snapshot.item()) is not None:
        return formatting.number(number)
    array = snapshot.array()
    if array is None or array.size > MAX_WRITTEN_ELEMENTS or array.ndim > 2:
        return None
    return _listed(array.tolist())


def _listed(item: object) -> str:
    if isinstance(item, list):
        return "[" + ", ".join(map(_listed, item)) + "]"
    assert isinstance(item, bool | int | float | complex)
    return formatting.trim_zeros(item, 3)
