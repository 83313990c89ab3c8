"""Statistics of snapshots, from all elements or from their summary."""

import math

import numpy as np

from gradscribe.engine.protocol.tape import Snapshot


def norm(snapshot: Snapshot) -> float:
    """Return the Euclidean norm, in double precision, as float32 squares may underflow."""
    array = real(snapshot)
    if array is None:
        return snapshot.norm if snapshot.norm is not None else math.nan
    return float(np.sqrt(np.square(array).sum())) if array.size else 0.0


def rms(snapshot: Snapshot) -> float:
    """Return the root of the mean square of the elements."""
    return norm(snapshot) / math.sqrt(max(snapshot.numel, 1))


def real(snapshot: Snapshot) -> np.ndarray | None:
    """Return all elements as float64 (complex: magnitudes); None if there is only a summary."""
    array = snapshot.array()
    if array is None:
        return None
    return (np.abs(array) if array.dtype.kind == "c" else array).astype(np.float64)


def has_nan(snapshot: Snapshot) -> bool:
    """Return whether an element is NaN."""
    if snapshot.data is None:
        return snapshot.nan > 0
    return bool(np.isnan(_floats(snapshot.data, snapshot.store)).any())


def has_inf(snapshot: Snapshot) -> bool:
    """Return whether an element is infinite."""
    if snapshot.data is None:
        return snapshot.inf > 0
    return bool(np.isinf(_floats(snapshot.data, snapshot.store)).any())


def _floats(data: bytes, store: str) -> np.ndarray:
    """Return the elements in a row; none if they are integers."""
    return np.frombuffer(data if store[1] in "fc" else b"", store)


def is_zero(snapshot: Snapshot) -> bool:
    """Return whether every element is zero."""
    array = snapshot.array()
    if array is None:
        return snapshot.norm == 0
    return not array.any()


def format_number(number: float) -> str:
    """Return a number with three significant digits."""
    return f"{number:.3g}"


def shape(sizes: tuple[int, ...]) -> str:
    """Return a shape as Python writes a tuple."""
    return f"({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''})"
