"""The weights between two layers of units, as lines between their maps."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from widgets.paint import heat
from widgets.theme import Theme

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


@dataclass(frozen=True)
class Wire:
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
    found = []
    before, own = boxes[column - 1], boxes[column]
    for unit, row in enumerate(wires.weights[: len(own)].tolist()):
        for at, (source, weight) in enumerate(zip(wires.sources, row, strict=False)):
            if source < len(before):
                box, end = before[source], own[unit]
                line = QLineF(box.right() + 1, box.center().y(), end.left() - 1, end.center().y())
                found.append(Wire(column, unit, source, at, weight, line))
    return found


def draw(
    painter: QPainter,
    wires: Sequence[Wire],
    theme: Theme,
    lit: Sequence[Wire] | None = None,
) -> None:
    """Draw wires, the thick ones last; with ``lit`` the others fade. A negative one is dashed."""
    sizes = [abs(one.weight) for one in wires if math.isfinite(one.weight)]
    scale = max([LEAST_SCALE, *sizes])
    few = len(wires) <= MOST // 4
    thick = max(LEAST_THICK, THICK * min(1.0, AIRY / max(1, len(wires))))
    bright = None if lit is None else {id(one) for one in lit}
    colors = {sign: heat.color(sign, 1.0, theme.dark) for sign in (-1.0, 1.0)}
    for one in sorted(wires, key=lambda wire: _size(wire.weight)):
        share = min(1.0, _size(one.weight) / scale)
        color = QColor(colors[-1.0 if one.weight < 0 else 1.0])
        faded = bright is not None and id(one) not in bright
        color.setAlphaF(FAINT if faded else 0.25 + 0.6 * share)
        pen = QPen(color, THIN + (thick - THIN) * share)
        if one.weight < 0 and few:
            pen.setDashPattern([6 / pen.widthF(), 4 / pen.widthF()])
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        painter.drawLine(one.line)


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
