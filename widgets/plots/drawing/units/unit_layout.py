"""Layout of the maps of a network's units: each layer in one column, or in several."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF

SMALLEST, BIGGEST = 26, 84
GAP, CLOSE = 7.0, 3.0
LEAST, WIDEST = 15, 64
"""Least and most pixels of a map if each layer is one column."""
HEAD = 20.0
"""Pixels of the name of a layer."""
OUTPUT_LEAST, OUTPUT_MOST = 110.0, 480.0
"""Least and most pixels of a single output, which is large if it fits."""
OUTPUT_SHARE, BEFORE = 0.42, 36.0
"""Its largest share of the width, and pixels between it and the layer before."""


def largest_side(units: Sequence[int], wide: float, high: float) -> float:
    """Return the largest side with which each layer's maps fit into ``wide`` by ``high`` pixels."""
    for side in range(BIGGEST, SMALLEST, -1):
        across = _across(wide, side)
        if side <= wide and all(-(-count // across) * (side + GAP) <= high for count in units):
            return float(side)
    return float(SMALLEST)


def _across(wide: float, side: float) -> int:
    return max(1, int((wide + GAP) // (side + GAP)))


def column_boxes(counts: Sequence[int], inner: QRectF) -> list[list[QRectF]]:
    """Return the boxes of maps with each layer in one column; empty if they get too small."""
    high, most = inner.height() - HEAD, max(counts)
    side = min(float(WIDEST), high / most - CLOSE, inner.width() / (2 * len(counts)))
    if side < LEAST:
        return []
    step = (inner.width() - side) / max(1, len(counts) - 1)
    gap = min(GAP, high / most - side)
    columns = []
    for column, count in enumerate(counts):
        left = inner.left() + column * step
        top = inner.top() + HEAD + (high - count * (side + gap)) / 2
        places = (top + unit * (side + gap) for unit in range(count))
        columns.append([QRectF(left, place, side, side) for place in places])
    return columns


def output_boxes(counts: Sequence[int], inner: QRectF) -> list[list[QRectF]]:
    """Return `column_boxes` with the only map of the last layer large; empty if it does not fit."""
    if len(counts) < 2 or counts[-1] != 1:
        return []
    side = min(inner.height() - HEAD, OUTPUT_SHARE * inner.width(), OUTPUT_MOST)
    rest = inner.adjusted(0, 0, -side - BEFORE, 0)
    columns = column_boxes(counts[:-1], rest) if side >= OUTPUT_LEAST else []
    if not columns:
        return []
    top = inner.top() + HEAD + (inner.height() - HEAD - side) / 2
    return [*columns, [QRectF(inner.right() - side, top, side, side)]]


def grid_boxes(counts: Sequence[int], inner: QRectF) -> tuple[list[list[QRectF]], float]:
    """Return the boxes of maps with several columns per layer, and the total height."""
    wide = inner.width() / len(counts)
    side = largest_side(counts, wide - 8, inner.height() - HEAD)
    across = _across(wide - 8, side)
    columns = []
    for column, count in enumerate(counts):
        left, top = inner.left() + column * wide, inner.top() + HEAD
        columns.append(
            [
                QRectF(
                    left + unit % across * (side + GAP),
                    top + unit // across * (side + GAP),
                    side,
                    side,
                )
                for unit in range(count)
            ]
        )
    rows = max(-(-count // across) for count in counts)
    return columns, rows * (side + GAP) + HEAD
