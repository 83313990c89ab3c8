"""Broadcasting on its way: cells that are copied along new axes, and gradients that are summed."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from gradscribe.playback.text import formatting
from gradscribe.widgets.base.theme import Theme, mix
from gradscribe.widgets.graph.paint import shapes
from gradscribe.widgets.graph.paint.wire.tokens import ease
from gradscribe.widgets.graph.paint.wire.wires import Polyline

CELL, GAP = 8.0, 1.5
MOST = 6
"""Most rows and columns that are drawn; the text has the whole shapes."""
SHEETS, SHIFT = 3, 4.0
"""Sheets of a stack for further axes, and their distance."""
PAD, TEXT_HEIGHT = 6.0, 16.0
DISTANCES = (14.0, 44.0)
"""Distances from the wire that are tried."""
PLACES = (0.5, 0.35, 0.65, 0.2, 0.8)
"""Shares of the wire's length that are tried."""
Shape = tuple[int, ...]
Broadcast = tuple[Shape, Shape]
"""The shape of an operand, and that of the result it is stretched to."""


def words(broadcast: Broadcast, backward: bool) -> str:
    """Return ``4 → 3 × 4`` for the copy, ``Σ 3 × 4 → 4`` for the sum of the gradients."""
    small, large = (formatting.shape(shape) for shape in broadcast)
    return f"Σ {large} → {small}" if backward else f"{small} → {large}"


def _sides(broadcast: Broadcast) -> tuple[tuple[int, int], tuple[int, int], int]:
    """Return rows and columns of the operand and of the result as drawn, and the sheets."""
    shape, onto = broadcast
    rows, columns = (1, 1, *onto)[-2:]
    own_rows, own_columns = (1, 1, *shape)[-2:]
    ahead = len(onto) - len(shape)
    is_deep = any(
        size > 1 and (dim < ahead or shape[dim - ahead] == 1) for dim, size in enumerate(onto[:-2])
    )
    large = min(rows, MOST), min(columns, MOST)
    small = min(own_rows, large[0]), min(own_columns, large[1])
    return small, large, SHEETS if is_deep else 1


def size(broadcast: Broadcast, text: str) -> tuple[float, float]:
    """Return width and height of the box; ``text`` is empty without a line of text."""
    _, (rows, columns), sheets = _sides(broadcast)
    deep = (sheets - 1) * SHIFT
    width = columns * CELL + (columns - 1) * GAP + deep
    height = rows * CELL + (rows - 1) * GAP + deep
    if text:
        width, height = max(width, shapes.text_width(text, 11, 600)), height + TEXT_HEIGHT
    return width + 2 * PAD, height + 2 * PAD


def place(
    track: Polyline, size: tuple[float, float], taken: Sequence[QRectF], view: QRectF
) -> QRectF:
    """Return the box next to a wire, in view, that covers least of what is there.

    ``size`` is in scene units, as ``taken`` and ``view`` are.
    """
    boxes = list(_candidates(track, *size))
    whole = size[0] * size[1]

    def covered(box: QRectF) -> float:
        outside = whole - _area(box.intersected(view))
        return 2 * outside + sum(_area(box.intersected(other)) for other in taken)

    return min(boxes, key=covered)


def _candidates(track: Polyline, width: float, height: float) -> Iterator[QRectF]:
    """Yield the boxes that are tried, the nearest to the middle of the wire first."""
    for distance in DISTANCES:
        for share in PLACES:
            x, y, _ = track.at(share)
            right, left = x + distance, x - distance - width
            below, above, middle = y + distance, y - distance - height, y - height / 2
            yield QRectF(right, middle, width, height)
            yield QRectF(left, middle, width, height)
            for top in (above, below):
                yield QRectF(x - width / 2, top, width, height)
                yield QRectF(right, top, width, height)
                yield QRectF(left, top, width, height)


def _area(box: QRectF) -> float:
    return max(0.0, box.width()) * max(0.0, box.height())


def paint(
    painter: QPainter, box: QRectF, broadcast: Broadcast, backward: bool, share: float,
    theme: Theme, text: str,
) -> None:  # fmt: skip
    """Paint the copy (or the sum) at a ``share`` of its time, 1 for its end."""
    width, height = size(broadcast, text)
    painter.save()
    painter.translate(box.topLeft())
    painter.scale(box.width() / width, box.height() / height)
    whole = QRectF(0, 0, width, height)
    color = theme.backward if backward else theme.forward
    shapes.fill(painter, whole, 7, theme.surface)
    shapes.outline(painter, whole, 7, color, 1.0)
    small, large, sheets = _sides(broadcast)
    grid = height - 2 * PAD - (TEXT_HEIGHT if text else 0)
    spread = 1 - ease(share) if backward else ease(share)
    across = large[1] * CELL + (large[1] - 1) * GAP + (sheets - 1) * SHIFT
    corner = QPointF((width - across) / 2, PAD)
    for sheet in reversed(range(sheets)):
        away = sheet * SHIFT * spread
        # The first sheet lies in front, at the lower left.
        at = QPointF(corner.x() + away, corner.y() + (sheets - 1) * SHIFT - away)
        _paint_cells(painter, at, small, large, spread, theme, backward, sheet > 0)
    if text:
        row = QRectF(0, PAD + grid, width, TEXT_HEIGHT)
        shapes.write(painter, row, text, theme.ink, 11, 600, shapes.CENTER)
    painter.restore()


def _paint_cells(
    painter: QPainter, at: QPointF, small: tuple[int, int], large: tuple[int, int],
    spread: float, theme: Theme, backward: bool, is_copy: bool,
) -> None:  # fmt: skip
    """Paint the cells of a sheet, copies between their source and their place."""
    color = theme.backward if backward else theme.forward
    pale = mix(color, theme.surface, 0.42)
    cells = [(row, column) for row in range(large[0]) for column in range(large[1])]
    # Sources are painted last, so that copies come out from under them.
    for row, column in sorted(cells, key=lambda cell: -sum(cell)):
        own = row % small[0], column % small[1]
        is_source = (row, column) == own and not is_copy
        y = own[0] + (row - own[0]) * spread
        x = own[1] + (column - own[1]) * spread
        left, top = at.x() + x * (CELL + GAP), at.y() + y * (CELL + GAP)
        painter.fillRect(QRectF(left, top, CELL, CELL), color if is_source else pale)
