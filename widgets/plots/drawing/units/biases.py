"""The bias of each unit as a small square at the lower left of its map."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPen

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint import heat
from gradscribe.widgets.plots.drawing.units.weight_lines import LayerWeights

SIDE, APART = 7.0, 3.0
"""Pixels of a square, and of the gap to its map."""
NEAR = 3.0
"""Pixels around a square in which the mouse hits it."""


class BiasSquare(NamedTuple):
    """The bias of ``unit`` of layer ``column``, and its square."""

    column: int
    unit: int
    number: float
    box: QRectF


def biases_of(
    column: int, wires: LayerWeights, boxes: Sequence[Sequence[QRectF]]
) -> list[BiasSquare]:
    """Return the biases of layer ``column``, whose maps are at ``boxes``."""
    found = []
    for unit, (number, box) in enumerate(zip(wires.bias.tolist(), boxes[column], strict=False)):
        square = QRectF(box.left() - SIDE - APART, box.bottom() - SIDE, SIDE, SIDE)
        found.append(BiasSquare(column, unit, number, square))
    return found


def draw_biases(painter: QPainter, biases: Sequence[BiasSquare], theme: Theme) -> None:
    """Draw biases, blue above zero and orange below; full colour is at 1 or the largest size."""
    scale = max([1.0, *(abs(bias.number) for bias in biases if math.isfinite(bias.number))])
    painter.setPen(QPen(theme.ink3, theme.stroke(1)))
    for bias in biases:
        painter.setBrush(heat.color(bias.number, scale, theme.dark))
        painter.drawRect(bias.box)


def bias_at(biases: Sequence[BiasSquare], at: QPointF) -> BiasSquare | None:
    """Return the bias under the mouse."""
    around = (-NEAR, -NEAR, NEAR, NEAR)
    return next((bias for bias in biases if bias.box.adjusted(*around).contains(at)), None)
