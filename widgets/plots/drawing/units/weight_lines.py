"""The weights between two layers as lines between the maps of their units."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen

from gradscribe.widgets.base.theme import Theme, mix
from gradscribe.widgets.graph.paint import heat

MOST = 640
"""Most weights that are drawn: more lines would be unreadable."""
THIN, THICK = 0.5, 5.0
"""Width in pixels of a weight of 0, and of the largest weight."""
AIRY, LEAST_THICK = 128, 1.5
"""Number of wires from which on the thickest get thinner, and their least width in pixels: thick
lines would hide each other, and are expensive."""
NEAR = 4.0
"""Pixels from a line in which the mouse hits it."""
FAINT = 0.1
DASHED, FLOWING = (6.0, 4.0), (18.0, 2.0)
"""Pixels of a dash and its gap: of negative weights, and of the others while training."""
SHADES = 60
"""Steps between a colour and its background, enough to be indistinguishable."""
LEAST_SCALE = 0.5
"""Least weight for the full width: if all weights are smaller the lines stay thin."""


@dataclass(frozen=True)
class LayerWeights:
    """A linear layer: ``weights`` (units, inputs) and ``bias`` (units,) or empty.

    ``sources``: the indices of its inputs in the layer before. ``name``: of the parameter.
    """

    name: str
    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    sources: tuple[int, ...]
    grads: NDArray[np.float32] | None = None
    bias_name: str = ""
    bias_grads: NDArray[np.float32] | None = None


class WeightLine(NamedTuple):
    """A weight from unit ``source`` of the layer before to ``unit`` of layer ``column``."""

    column: int
    unit: int
    source: int
    at: int
    """Its index among the inputs of the linear layer."""
    weight: float
    line: QLineF


def count_lines(column: int, wires: LayerWeights, boxes: Sequence[Sequence[QRectF]]) -> int:
    """Return the number of wires that `weight_lines` returns."""
    sources = wires.sources[: wires.weights.shape[1]]
    known = sum(source < len(boxes[column - 1]) for source in sources)
    return min(len(wires.weights), len(boxes[column])) * known


def weight_lines(
    column: int, wires: LayerWeights, boxes: Sequence[Sequence[QRectF]]
) -> list[WeightLine]:
    """Return the wires into layer ``column``; ``boxes``: of the maps of all layers."""
    before = [(box.right() + 1, box.center().y()) for box in boxes[column - 1]]
    own = [(box.left() - 1, box.center().y()) for box in boxes[column]]
    sources = wires.sources[: wires.weights.shape[1]]
    known = [(at, source) for at, source in enumerate(sources) if source < len(before)]
    found = []
    for unit, (row, end) in enumerate(zip(wires.weights.tolist(), own, strict=False)):
        for at, source in known:
            line = QLineF(*before[source], *end)
            found.append(WeightLine(column, unit, source, at, row[at], line))
    return found


def draw_lines(
    painter: QPainter,
    wires: Sequence[WeightLine],
    theme: Theme,
    lit: Sequence[WeightLine] | None = None,
    flown: float | None = None,
) -> None:
    """Draw wires, thick ones last and negative ones dashed; all but ``lit`` are faded.

    ``flown``: offset of the dashes in pixels; positive wires have small gaps then, too.
    The wires are opaque, in colours mixed with the panel's: transparency would triple the cost.
    """
    sizes = [_size(wire.weight) for wire in wires]
    scale = max([LEAST_SCALE, *sizes])
    few = len(wires) <= MOST // 4
    thick = max(LEAST_THICK, THICK * min(1.0, AIRY / max(1, len(wires))))
    bright = None if lit is None else {id(wire) for wire in lit}
    minus, plus = (_shades(heat.color(sign, 1.0, theme.dark), theme.panel) for sign in (-1.0, 1.0))
    # A shared pen: a new pen for each wire would double the time.
    pen = QPen(QBrush(plus[-1]), THIN, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap)
    clear = [bright is None or id(wire) in bright for wire in wires]
    for at in sorted(range(len(wires)), key=lambda at: (clear[at], sizes[at])):
        wire = wires[at]
        share = sizes[at] / scale
        strength = 0.25 + 0.6 * share if clear[at] else FAINT
        width = THIN + (thick - THIN) * share
        pen.setColor((minus if wire.weight < 0 else plus)[round(strength * SHADES)])
        pen.setWidthF(width)
        if few and (wire.weight < 0 or flown is not None):
            dash, gap = DASHED if wire.weight < 0 else FLOWING
            pen.setDashPattern([dash / width, gap / width])
            pen.setDashOffset(-(flown or 0.0) / width)
        elif few:
            pen.setStyle(Qt.PenStyle.SolidLine)
        painter.setPen(pen)
        painter.drawLine(wire.line)


def _shades(color: QColor, ground: QColor) -> list[QColor]:
    return [mix(color, ground, step / SHADES) for step in range(SHADES + 1)]


def _size(weight: float) -> float:
    return abs(weight) if math.isfinite(weight) else 0.0


def line_at(wires: Sequence[WeightLine], at: QPointF) -> WeightLine | None:
    """Return the wire under the mouse: the thickest of those nearby."""
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
