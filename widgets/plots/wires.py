"""The weights between two layers of units, as lines between their maps."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen

from widgets.paint import heat
from widgets.theme import Theme, mix

MOST = 640
"""More weights than that are no lines any more but a fog."""
THIN, THICK = 0.5, 5.0
"""Pixels of a weight of 0, and of the greatest."""
AIRY, LEAST_THICK = 128, 1.5
"""Of more wires the greatest are thinner, down to so many pixels: they would hide each other, and
what is thicker than a pixel is dear."""
NEAR = 4.0
"""A line is under the mouse at that distance."""
FAINT = 0.1
DASHED, FLOWING = (6.0, 4.0), (18.0, 2.0)
"""Pixels of a dash and of the gap behind it: of a negative weight, of others while one learns."""
SHADES = 60
"""A color is mixed with its ground in so many steps: no eye tells two that are side by side."""
LEAST_SCALE = 0.5
"""Where all weights are smaller the lines stay thin."""


@dataclass(frozen=True)
class Wires:
    """A linear layer: ``weights`` (units, inputs) and ``bias`` (units,) or empty.

    ``sources``: the places in the layer before of what goes into it. ``name``: of the parameter.
    """

    name: str
    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    sources: tuple[int, ...]
    grads: NDArray[np.float32] | None = None
    bias_name: str = ""
    bias_grads: NDArray[np.float32] | None = None


class Wire(NamedTuple):
    """One weight: from unit ``source`` of the layer before to ``unit`` of layer ``column``."""

    column: int
    unit: int
    source: int
    at: int
    """Its place among the inputs of the linear layer."""
    weight: float
    line: QLineF


def count_of(column: int, wires: Wires, boxes: Sequence[Sequence[QRectF]]) -> int:
    """Return how many `wires_of` makes."""
    sources = wires.sources[: wires.weights.shape[1]]
    known = sum(source < len(boxes[column - 1]) for source in sources)
    return min(len(wires.weights), len(boxes[column])) * known


def wires_of(column: int, wires: Wires, boxes: Sequence[Sequence[QRectF]]) -> list[Wire]:
    """Return the wires into layer ``column``, whose maps and those before it stand at ``boxes``."""
    before = [(box.right() + 1, box.center().y()) for box in boxes[column - 1]]
    own = [(box.left() - 1, box.center().y()) for box in boxes[column]]
    sources = wires.sources[: wires.weights.shape[1]]
    known = [(at, source) for at, source in enumerate(sources) if source < len(before)]
    found = []
    for unit, (row, end) in enumerate(zip(wires.weights.tolist(), own, strict=False)):
        for at, source in known:
            line = QLineF(*before[source], *end)
            found.append(Wire(column, unit, source, at, row[at], line))
    return found


def draw(
    painter: QPainter,
    wires: Sequence[Wire],
    theme: Theme,
    lit: Sequence[Wire] | None = None,
    flown: float | None = None,
) -> None:
    """Draw wires, the thick ones last; with ``lit`` the others fade. A negative one is dashed.

    ``flown``: so many pixels their gaps have moved on; then the others have small ones, too.
    They are opaque, in shades of the panel they stand on: what is seen through costs three times
    as much to paint.
    """
    sizes = [_size(one.weight) for one in wires]
    scale = max([LEAST_SCALE, *sizes])
    few = len(wires) <= MOST // 4
    thick = max(LEAST_THICK, THICK * min(1.0, AIRY / max(1, len(wires))))
    bright = None if lit is None else {id(one) for one in lit}
    minus, plus = (_shades(heat.color(sign, 1.0, theme.dark), theme.panel) for sign in (-1.0, 1.0))
    # One pen for all of them: to make another for each took as long as the lines.
    pen = QPen(QBrush(plus[-1]), THIN, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap)
    clear = [bright is None or id(one) in bright for one in wires]
    for at in sorted(range(len(wires)), key=lambda at: (clear[at], sizes[at])):
        one = wires[at]
        share = sizes[at] / scale
        strength = 0.25 + 0.6 * share if clear[at] else FAINT
        width = THIN + (thick - THIN) * share
        pen.setColor((minus if one.weight < 0 else plus)[round(strength * SHADES)])
        pen.setWidthF(width)
        if few and (one.weight < 0 or flown is not None):
            dash, gap = DASHED if one.weight < 0 else FLOWING
            pen.setDashPattern([dash / width, gap / width])
            pen.setDashOffset(-(flown or 0.0) / width)
        elif few:
            pen.setStyle(Qt.PenStyle.SolidLine)
        painter.setPen(pen)
        painter.drawLine(one.line)


def _shades(color: QColor, ground: QColor) -> list[QColor]:
    return [mix(color, ground, step / SHADES) for step in range(SHADES + 1)]


def _size(weight: float) -> float:
    return abs(weight) if math.isfinite(weight) else 0.0


def nearest(wires: Sequence[Wire], at: QPointF) -> Wire | None:
    """Return the wire under the mouse: the thickest of those that pass close by."""
    if not wires:
        return None
    ends = np.array([(w.line.x1(), w.line.y1(), w.line.x2(), w.line.y2()) for w in wires])
    start, way = ends[:, :2], ends[:, 2:] - ends[:, :2]
    mouse = np.array([at.x(), at.y()])
    length = np.maximum((way * way).sum(1), 1e-9)
    share = np.clip(((mouse - start) * way).sum(1) / length, 0.0, 1.0)
    away = np.hypot(*(start + share[:, None] * way - mouse).T)
    close = [(_size(wires[i].weight), i) for i in np.flatnonzero(away <= NEAR).tolist()]
    return wires[max(close)[1]] if close else None
