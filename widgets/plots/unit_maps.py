"""What each unit computes: a small map per unit, layer by layer, and the weights between them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QImage,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from playback import text
from widgets.paint import heat
from widgets.plots import wires
from widgets.plots.lines import bubble
from widgets.plots.plot import EDGE, Plot, empty
from widgets.plots.strokes import polygon
from widgets.plots.weight_entry import WeightEntry
from widgets.plots.wires import Wire, Wires
from widgets.theme import Theme

LARGE = 150.0
"""Pixels of the map under the mouse."""
SMALLEST, BIGGEST = 26, 84
GAP, CLOSE = 7.0, 3.0
LEAST, WIDEST = 15, 64
"""Pixels of a map where each layer is one column."""
HEAD = 20.0
"""Pixels for the name of a layer."""
OFF = 0.3
"""Opacity of an input that the model is not given."""
ABOUT = "what each unit says · lines are weights, dashed where negative"


@dataclass(frozen=True)
class Layer:
    """The maps of one layer: (units, H, W), the first row of a map at the bottom.

    Over one input a map is a curve: (units, W). Inputs have ``names``, some of them are not ``on``.
    """

    name: str
    maps: NDArray[np.float32]
    names: tuple[str, ...] = ()
    on: tuple[bool, ...] = ()
    wires: Wires | None = None

    def title(self, unit: int) -> str:
        """Return what a unit is called."""
        if unit < len(self.names):
            return self.names[unit]
        return f"{self.name}, unit {unit}"


class UnitMaps(Plot):
    """A column of maps per layer, in the order in which data goes through them.

    Where each layer fits into one column, lines between them are their weights.
    """

    hovered = Signal(str, int)
    """(layer, unit) under the mouse; ("", -1) for none."""
    switched = Signal(str)
    """The input of that name was clicked."""
    weighed = Signal(str, int, float)
    """(parameter, place in it, number): a weight is to be set by hand."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Network", ABOUT, parent)
        self._layers: tuple[Layer, ...] = ()
        self._images: list[list[QImage]] = []
        self._boxes: list[list[QRectF]] = []
        self._wires: list[Wire] = []
        self._mouse: QPointF | None = None
        self._top = 0.0
        self.entry = WeightEntry(self.canvas)
        self.entry.told.connect(self.weighed)

    def show_layers(self, layers: Sequence[Layer]) -> None:
        """Show these layers; each layer has a scale of its own, and each input."""
        self._layers = tuple(layers)
        self._paint_images()
        self.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of ``theme`` for the maps too."""
        super().set_theme(theme)
        self._paint_images()

    def _paint_images(self) -> None:
        dark = self.theme.dark
        self._images = []
        for layer in self._layers:
            grid = layer.maps.astype(np.float64)
            scale = None if layer.names else heat.scale_of(grid)
            flat = [one[::-1] if one.ndim == 2 else one[None] for one in grid]
            self._images.append([heat.image(one, dark, scale) for one in flat])

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the layers side by side, then what is under the mouse."""
        self._boxes, self._wires = [], []
        if not self._layers:
            empty(painter, area, self.theme, "Units are shown for models on one or two features")
            return
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        inner = area.adjusted(EDGE, 2, -EDGE, -8)
        painter.setFont(self.theme.font(11, 500))
        counts = [len(images) for images in self._images]
        columns = column_boxes(counts, inner.adjusted(self._room_for_names(painter), 0, 0, 0))
        self._boxes = columns or self._scrolled(counts, inner)
        painter.setClipRect(area.adjusted(0, 0, 0, -2))
        if columns:
            self._draw_wires(painter)
        for layer, images, boxes in zip(self._layers, self._images, self._boxes, strict=True):
            self._draw_name(painter, layer.name, boxes, inner)
            for unit, (image, box) in enumerate(zip(images, boxes, strict=True)):
                if not area.intersects(box):
                    continue
                painter.setOpacity(1.0 if unit >= len(layer.on) or layer.on[unit] else OFF)
                self._draw_map(painter, box, image, layer.maps[unit])
                if columns and unit < len(layer.names):
                    self._draw_input(painter, layer.names[unit], box)
                painter.setOpacity(1.0)
        painter.setClipping(False)
        self._draw_enlarged(painter, area)

    def _room_for_names(self, painter: QPainter) -> float:
        """Return how much room the names of the inputs take, to the left of them."""
        metrics = QFontMetricsF(painter.font())
        return max((metrics.horizontalAdvance(n) + 8 for n in self._layers[0].names), default=0.0)

    def _draw_input(self, painter: QPainter, name: str, box: QRectF) -> None:
        metrics = QFontMetricsF(painter.font())
        left = box.left() - metrics.horizontalAdvance(name) - 6
        painter.setPen(self.theme.ink)
        down = box.center().y() + (metrics.ascent() - metrics.descent()) / 2
        painter.drawText(QPointF(left, down), name)

    def _scrolled(self, counts: Sequence[int], inner: QRectF) -> list[list[QRectF]]:
        boxes, high = grid_boxes(counts, inner)
        self._top = max(0.0, min(self._top, high - inner.height()))
        return [[box.translated(0, -self._top) for box in column] for column in boxes]

    def _draw_name(
        self, painter: QPainter, name: str, boxes: Sequence[QRectF], inner: QRectF
    ) -> None:
        if not boxes:
            return
        metrics = QFontMetricsF(painter.font())
        wide = inner.width() / len(self._layers) - 8
        shown = metrics.elidedText(name, Qt.TextElideMode.ElideRight, wide)
        left = min(boxes[0].left(), inner.right() - metrics.horizontalAdvance(shown))
        painter.setPen(self.theme.ink2)
        painter.drawText(QPointF(left, boxes[0].top() - 20 + metrics.ascent()), shown)

    def _draw_wires(self, painter: QPainter) -> None:
        given = [(n, one.wires) for n, one in enumerate(self._layers) if n and one.wires]
        if sum(wires.count_of(*one, self._boxes) for one in given) > wires.MOST:
            return
        for one in given:
            self._wires += wires.wires_of(*one, self._boxes)
        lit, found, wire = None, self._under(), self._wire_under()
        if found is not None:
            column, unit, _ = found
            lit = [w for w in self._wires if (w.column, w.unit) == (column, unit)]
            lit += [w for w in self._wires if (w.column - 1, w.source) == (column, unit)]
        elif wire is not None:
            lit = [wire]
        wires.draw(painter, self._wires, self.theme, lit)

    def _draw_map(
        self, painter: QPainter, box: QRectF, image: QImage, numbers: NDArray[np.float32]
    ) -> None:
        if numbers.ndim == 1:
            self._draw_curve(painter, box, numbers)
            return
        clip = QPainterPath()
        clip.addRoundedRect(box, 5, 5)
        painter.save()
        painter.setClipPath(clip, Qt.ClipOperation.IntersectClip)
        painter.drawImage(box, image)
        painter.restore()
        painter.setPen(QPen(self.theme.line, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, 5, 5)

    def _draw_curve(self, painter: QPainter, box: QRectF, numbers: NDArray[np.float32]) -> None:
        """Draw a unit's answers over its one input."""
        painter.setPen(QPen(self.theme.line, 1))
        painter.setBrush(self.theme.panel2)
        painter.drawRoundedRect(box, 5, 5)
        finite = np.isfinite(numbers)
        if not finite.any():
            return
        inside = box.adjusted(3, 4, -3, -4)
        low, high = float(numbers[finite].min()), float(numbers[finite].max())
        points = np.empty((numbers.size, 2))
        points[:, 0] = np.arange(numbers.size)
        points[:, 0] *= inside.width() / max(1, numbers.size - 1)
        points[:, 0] += inside.left()
        points[:, 1] = 0.5 if high == low else (numbers.astype(np.float64) - low) / (high - low)
        points[:, 1] *= -inside.height()
        points[:, 1] += inside.bottom()
        painter.setPen(QPen(self.theme.forward, 1.5))
        painter.drawPolyline(polygon(points[finite]))

    def _draw_enlarged(self, painter: QPainter, area: QRectF) -> None:
        found = self._under()
        if found is None:
            self._draw_weight(painter, area)
            return
        column, unit, box = found
        layer = self._layers[column]
        words = [layer.title(unit)]
        if layer.wires is not None and unit < len(layer.wires.bias):
            words.append(f"bias {text.number(float(layer.wires.bias[unit]))}")
        painter.setFont(self.theme.font(12, 500))
        metrics = QFontMetricsF(painter.font())
        below = len(words) * metrics.height() + 8
        side = min(LARGE * self.theme.scale, area.height() - below - 10, area.width() - 20)
        left = box.right() + 10
        if left + side + 8 > area.right():
            left = max(area.left() + 4, box.left() - side - 18)
        top = min(max(area.top() + 4, box.center().y() - side / 2), area.bottom() - side - below)
        card = QRectF(left, top, side + 8, side + below)
        painter.setPen(QPen(self.theme.line_strong, 1))
        painter.setBrush(self.theme.panel)
        painter.drawRoundedRect(card, 8, 8)
        large = QRectF(left + 4, top + 4, side, side)
        if layer.maps[unit].ndim == 1:
            self._draw_curve(painter, large, layer.maps[unit])
        else:
            painter.drawImage(large, self._images[column][unit])
        painter.setPen(self.theme.ink)
        for line, word in enumerate(words):
            row = QRectF(left + 8, top + side + 6, side - 8, metrics.height())
            short = metrics.elidedText(word, Qt.TextElideMode.ElideLeft, side - 8)
            row.translate(0, line * metrics.height())
            painter.drawText(row, Qt.AlignmentFlag.AlignVCenter, short)

    def _draw_weight(self, painter: QPainter, area: QRectF) -> None:
        wire = self._wire_under()
        if wire is None or self._mouse is None or self.entry.isVisible():
            return
        found = self._layers[wire.column].wires
        name = found.name if found is not None else ""
        words = [f"{name}[{wire.unit}, {wire.at}]", f"weight  {text.number(wire.weight)}"]
        colors = [self.theme.ink2, heat.color(-1 if wire.weight < 0 else 1, 1, self.theme.dark)]
        if found is not None and found.grads is not None:
            words.append(f"gradient  {text.number(float(found.grads[wire.unit, wire.at]))}")
            colors.append(self.theme.backward)
        bubble(painter, area, self._mouse, words, colors, self.theme)

    def _under(self) -> tuple[int, int, QRectF] | None:
        if self._mouse is None:
            return None
        for column, boxes in enumerate(self._boxes):
            for unit, box in enumerate(boxes):
                if box.contains(self._mouse):
                    return column, unit, box
        return None

    def _wire_under(self) -> Wire | None:
        return wires.nearest(self._wires, self._mouse) if self._mouse is not None else None

    def handle(self, happened: QEvent) -> bool:
        """Enlarge what is under the mouse; a click switches an input or opens a weight."""
        if isinstance(happened, QWheelEvent):
            self._top -= happened.angleDelta().y() / 3
            self.refresh()
            return True
        if isinstance(happened, QMouseEvent) or happened.type() == QEvent.Type.Leave:
            inside = isinstance(happened, QMouseEvent)
            self._mouse = happened.position() if isinstance(happened, QMouseEvent) else None
            found = self._under() if inside else None
            self.hovered.emit(*((self._layers[found[0]].name, found[1]) if found else ("", -1)))
            if happened.type() == QEvent.Type.MouseButtonPress:
                self._click(found)
            self.refresh()
        return False

    def _click(self, found: tuple[int, int, QRectF] | None) -> None:
        wire = self._wire_under() if found is None else None
        if found is not None:
            column, unit, _ = found
            if unit < len(self._layers[column].on):
                self.switched.emit(self._layers[column].names[unit])
        elif wire is not None and self._mouse is not None:
            layer = self._layers[wire.column].wires
            if layer is not None:
                place = wire.unit * layer.weights.shape[1] + wire.at
                self.entry.open(layer.name, place, wire.weight, self._mouse)
        else:
            self.entry.hide()


def side_of(units: Sequence[int], wide: float, high: float) -> float:
    """Return the greatest side at which every layer's maps fit into ``wide`` by ``high`` pixels."""
    for side in range(BIGGEST, SMALLEST, -1):
        across = _across(wide, side)
        if side <= wide and all(-(-count // across) * (side + GAP) <= high for count in units):
            return float(side)
    return float(SMALLEST)


def _across(wide: float, side: float) -> int:
    return max(1, int((wide + GAP) // (side + GAP)))


def column_boxes(counts: Sequence[int], inner: QRectF) -> list[list[QRectF]]:
    """Return where maps stand if each layer is one column; nothing where that is too small."""
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


def grid_boxes(counts: Sequence[int], inner: QRectF) -> tuple[list[list[QRectF]], float]:
    """Return where maps stand if a layer takes several columns, and how high all of it is."""
    wide = inner.width() / len(counts)
    side = side_of(counts, wide - 8, inner.height() - HEAD)
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
