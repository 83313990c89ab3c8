"""Regions of a tensor as a matrix: exact numbers, or blocks of them; and statistics of a slice.

The reduction is numpy alone, so that engine and window compute it alike.
"""

import math
from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from gradscribe.engine.protocol.training.replies import RawArray

Part = Literal["real", "imag", "abs"]
Box = tuple[int, int, int, int]
"""First row, end of the rows, first column, end of the columns."""
Reader = Callable[[int, int, int, int], NDArray[np.generic]]
"""Returns the numbers of a box of a matrix, (rows, columns)."""

BINS = 128
MAX_SIDE = 1024
"""Most rows and most columns of a region that is sent."""
BAND_ELEMENTS = 1 << 18
"""Elements that are reduced at a time."""
READ_ELEMENTS = 1 << 27
"""Most elements that are read for a region; of more (an expanded view costs no memory), every
n-th row and column is."""
COUNTED_ELEMENTS = 1 << 24
"""Most elements that are counted in a histogram, likewise."""
NAN, INFINITE = 1, 2
"""Bits of `Region.marks`."""


class ReadRegion(Struct, frozen=True, tag=True):
    """Ask for a region of a snapshot of the latest run.

    The matrix is that of the last two dimensions at ``slices`` of the others; a vector is one row.
    ``most``: rows and columns of the reply; a larger box is reduced to blocks.
    """

    run_id: int
    snapshot: int
    serial: int
    """Returned in the reply, which would else be hard to tell from earlier ones."""
    box: Box
    slices: tuple[int, ...] = ()
    most: tuple[int, int] = (512, 512)
    part: Part = "real"
    """The part of complex numbers."""
    with_summary: bool = False


class RegionSummary(Struct, frozen=True):
    """Statistics of a whole slice. ``counts``: (bins,) int64, equal bins from ``low`` to ``high``.

    ``low`` and ``high`` are of the finite numbers; without any, both are 0 and there are no counts.
    """

    counts: RawArray
    low: float
    high: float
    nan: int
    inf: int
    sampled: bool = False
    """True if only a sample was counted."""


class Region(Struct, frozen=True, tag=True):
    """A region of a tensor; without arrays if the numbers are gone, with ``problem``.

    ``exact``: (rows, columns), the tensor's own numbers, half precision widened to float32; or
    blocks of ``block`` rows and columns with ``mean``, ``low`` and ``high`` of their finite
    numbers, float64, NaN for a block without any, and ``marks``, uint8: `NAN` and `INFINITE` where
    a block has such numbers.
    """

    run_id: int
    snapshot: int
    serial: int
    box: Box
    block: tuple[int, int] = (1, 1)
    exact: RawArray | None = None
    mean: RawArray | None = None
    low: RawArray | None = None
    high: RawArray | None = None
    marks: RawArray | None = None
    summary: RegionSummary | None = None
    sampled: bool = False
    """True if not every number of the blocks was read."""
    problem: str = ""


def matrix_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return rows and columns of a tensor's slices: a number is (1, 1), a vector one row."""
    columns = shape[-1] if shape else 1
    return (shape[-2] if len(shape) > 1 else 1, columns)


def clamped(box: Box, rows: int, columns: int) -> Box:
    """Return the part of a box that lies inside a matrix; it may be empty."""
    top, bottom, left, right = box
    top, left = min(max(0, top), rows), min(max(0, left), columns)
    return top, min(max(top, bottom), rows), left, min(max(left, right), columns)


def encode(array: NDArray[np.generic]) -> RawArray:
    """Return an array as raw bytes, little-endian."""
    plain = np.ascontiguousarray(array)
    plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
    return RawArray(plain.shape, plain.dtype.str, plain.tobytes())


def part_of(array: NDArray[np.generic], part: Part) -> NDArray[np.generic]:
    """Return the chosen part of complex numbers; other numbers as they are."""
    if not np.iscomplexobj(array):
        return array
    with np.errstate(all="ignore"):
        chosen = np.abs(array) if part == "abs" else array.imag if part == "imag" else array.real
    return np.asarray(chosen)


def read_region(
    request: ReadRegion, shape: tuple[int, ...], read: Reader, dtype: np.dtype[np.generic]
) -> Region:
    """Return the requested region of a matrix of ``shape`` (rows, columns after slicing)."""
    rows, columns = matrix_shape(shape)
    box = clamped(request.box, rows, columns)
    top, bottom, left, right = box
    tall, wide = (min(MAX_SIDE, max(1, side)) for side in request.most)
    block = max(1, -(-(bottom - top) // tall)), max(1, -(-(right - left) // wide))
    summary = _summary(read, rows, columns) if request.with_summary else None
    head = (request.run_id, request.snapshot, request.serial, box, block)
    if block == (1, 1):
        exact = read(top, bottom, left, right) if bottom > top and right > left else None
        found = np.zeros((bottom - top, right - left), dtype) if exact is None else exact
        return Region(*head, exact=encode(found), summary=summary)
    mean, low, high, marks = _blocks(read, box, block)
    sampled = (bottom - top) * (right - left) > READ_ELEMENTS
    arrays = encode(mean), encode(low), encode(high), encode(marks)
    return Region(*head, None, *arrays, summary, sampled)


def _steps(rows: int, columns: int, most: int) -> tuple[int, int]:
    """Return the distances of the rows and columns that are read of a matrix."""
    factor = math.ceil(math.sqrt(max(1.0, rows * columns / most)))
    across = max(1, min(columns, factor))
    return max(1, math.ceil(rows * (columns / across) / most)), across


def _is_finite(numbers: NDArray[np.generic]) -> bool:
    """Return whether all numbers are finite; False, too, if their sum overflows."""
    if numbers.dtype.kind != "f":
        return True
    with np.errstate(all="ignore"):
        return bool(np.isfinite(np.sum(numbers, dtype=np.float64)))


Reduced = tuple[NDArray[np.float64], ...]
"""Sum, count, least and largest of the finite numbers, count of NaN and of infinities."""


def _columns(numbers: NDArray[np.generic]) -> Reduced:
    """Reduce the rows of a matrix: each result is (columns,)."""
    height, width = numbers.shape
    none = np.zeros(width)
    with np.errstate(all="ignore"):
        if _is_finite(numbers):
            plain = numbers.astype(np.uint8) if numbers.dtype.kind == "b" else numbers
            ends = (plain.min(0).astype(np.float64), plain.max(0).astype(np.float64))
            sums = np.asarray(np.sum(plain, 0, dtype=np.float64))
            return sums, np.full(width, float(height)), *ends, none, none
        finite = np.isfinite(numbers)
        return (
            np.asarray(np.sum(numbers, 0, dtype=np.float64, where=finite)),
            finite.sum(0).astype(np.float64),
            np.min(np.where(finite, numbers, math.inf), 0).astype(np.float64),
            np.max(np.where(finite, numbers, -math.inf), 0).astype(np.float64),
            np.isnan(numbers).sum(0).astype(np.float64),
            np.isinf(numbers).sum(0).astype(np.float64),
        )


_JOIN = (np.add, np.add, np.minimum, np.maximum, np.add, np.add)


def _joined(parts: list[Reduced], starts: NDArray[np.intp]) -> Reduced:
    """Join rows of columns, and from each of ``starts`` on the columns."""
    with np.errstate(all="ignore"):
        columns = zip(*parts, strict=True)
        rows = (join.reduce(a, axis=0) for join, a in zip(_JOIN, columns, strict=True))
        return tuple(join.reduceat(a, starts) for join, a in zip(_JOIN, rows, strict=True))


def _blocks(read: Reader, box: Box, block: tuple[int, int]) -> tuple[NDArray[np.generic], ...]:
    """Return mean, least, largest and marks of each block."""
    top, bottom, left, right = box
    tall, wide = block
    shape = -(-(bottom - top) // tall), -(-(right - left) // wide)
    mean, low, high = (np.full(shape, math.nan) for _ in range(3))
    marks = np.zeros(shape, np.uint8)
    down, across = _steps(bottom - top, right - left, READ_ELEMENTS)
    down, across = min(down, tall), min(across, wide)
    # Columns in pieces of whole blocks, so that a very wide row needs little memory.
    piece = max(1, BAND_ELEMENTS // wide) * wide
    for row, at in np.ndindex(shape[0], -(-(right - left) // piece)):
        first, start = top + row * tall, left + at * piece
        end, stop = min(bottom, first + tall), min(right, start + piece)
        step = down * max(1, BAND_ELEMENTS * across // (stop - start))
        parts = [
            _columns(read(y, min(end, y + step), start, stop)[::down, ::across])
            for y in range(first, end, step)
        ]
        starts = np.ceil(np.arange(0, stop - start, wide) / across).astype(np.intp)
        sums, counts, least, largest, nan, inf = _joined(parts, starts)
        into = np.s_[row, at * (piece // wide) : at * (piece // wide) + len(starts)]
        with np.errstate(all="ignore"):
            means = sums / counts
            # A sum of numbers near the largest float may overflow.
            means = np.where(np.isfinite(means), means, least / 2 + largest / 2)
        for array, found in ((mean, means), (low, least), (high, largest)):
            array[into] = np.where(counts > 0, found, math.nan)
        marks[into] = NAN * (nan > 0) + INFINITE * (inf > 0)
    return mean, low, high, marks


def _bands(read: Reader, rows: int, columns: int, most: int) -> Iterator[NDArray[np.generic]]:
    """Yield the numbers of a matrix, a bounded piece at a time."""
    down, across = _steps(rows, columns, most)
    wide = min(columns, BAND_ELEMENTS * across)
    tall = down * max(1, BAND_ELEMENTS * across // max(1, wide))
    for top in range(0, rows, tall):
        for left in range(0, columns, wide):
            box = top, min(rows, top + tall), left, min(columns, left + wide)
            yield read(*box)[::down, ::across]


def _summary(read: Reader, rows: int, columns: int) -> RegionSummary:
    low, high, nan, inf = math.inf, -math.inf, 0, 0
    for band in _bands(read, rows, columns, READ_ELEMENTS):
        _, _, least, largest, nans, infs = _columns(band.reshape(-1, 1))
        low, high = min(low, float(least[0])), max(high, float(largest[0]))
        nan, inf = nan + int(nans[0]), inf + int(infs[0])
    if low > high:
        return RegionSummary(encode(np.zeros(0, "<i8")), 0.0, 0.0, nan, inf)
    counts = np.zeros(BINS, np.int64)
    # Smaller where the width of the range is beyond the largest float.
    scale = 1.0 if math.isfinite(high - low) else 0.25
    wide = high * scale - low * scale
    for band in _bands(read, rows, columns, COUNTED_ELEMENTS):
        numbers = band.astype(np.float64).reshape(-1)
        finite = numbers if _is_finite(numbers) else numbers[np.isfinite(numbers)]
        places = np.zeros(finite.size, np.int64)
        if wide > 0:
            shares = (finite * scale - low * scale) / wide
            places = np.minimum((shares * BINS).astype(np.int64), BINS - 1)
        counts += np.bincount(places, minlength=BINS)
    sampled = rows * columns > COUNTED_ELEMENTS
    return RegionSummary(encode(counts), low, high, nan, inf, sampled)


def is_consistent(region: Region) -> bool:
    """Return whether the arrays of a region have the size of its box."""
    top, bottom, left, right = region.box
    tall, wide = region.block
    if min(top, left) < 0 or bottom < top or right < left or min(tall, wide) < 1:
        return False
    shape = -(-(bottom - top) // tall), -(-(right - left) // wide)
    blocks = (region.mean, region.low, region.high)
    summary = region.summary
    if summary is not None and (
        summary.counts.dtype != "<i8"
        or summary.counts.shape not in ((0,), (BINS,))
        or not math.isfinite(summary.low)
        or not math.isfinite(summary.high)
        or summary.low > summary.high
        or min(summary.nan, summary.inf) < 0
    ):
        return False
    if max(shape) > MAX_SIDE:
        return False
    if region.exact is not None:
        return region.exact.shape == shape and region.block == (1, 1)
    if region.problem:
        return all(array is None for array in (*blocks, region.marks))
    return (
        all(array is not None and (array.shape, array.dtype) == (shape, "<f8") for array in blocks)
        and region.marks is not None
        and (region.marks.shape, region.marks.dtype) == (shape, "|u1")
    )


def local_region(request: ReadRegion, array: NDArray[np.generic]) -> Region:
    """Return the requested region of an array that is at hand."""
    leading = array.shape[:-2]
    slices = tuple(
        max(0, min(at, size - 1))
        for at, size in zip((*request.slices, *[0] * len(leading)), leading, strict=False)
    )
    empty = 0 in leading
    shape = (0, 0) if empty else matrix_shape(array.shape)
    matrix = np.zeros(shape, array.dtype) if empty else array[slices].reshape(shape)

    def read(top: int, bottom: int, left: int, right: int) -> NDArray[np.generic]:
        return part_of(matrix[top:bottom, left:right], request.part)

    return read_region(request, shape, read, part_of(matrix[:0], request.part).dtype)
