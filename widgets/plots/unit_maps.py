"""What each unit computes over the plane: a small map per unit, layer by layer, bigger on hover."""

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

from widgets.paint import heat
from widgets.plots.plot import EDGE, Plot, empty
from widgets.theme import Theme

LARGE = 150.0
"""Pixels of the map under the mouse."""
SMALLEST, BIGGEST = 26, 84
GAP = 7.0


@dataclass(frozen=True)
class Layer:
    """The maps of one layer: (units, H, W), the first row of a map at the bottom."""

    name: str
    maps: NDArray[np.float32]


class UnitMaps(Plot):
    """A column of maps per layer, in the order in which data goes through them."""

    hovered = Signal(str, int)
    """(layer, unit) under the mouse; ("", -1) for none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Units", "what each unit says over the plane", parent)
        self._layers: tuple[Layer, ...] = ()
        self._images: list[list[QImage]] = []
        self._boxes: list[tuple[int, int, QRectF]] = []
        self._mouse: QPointF | None = None
        self._top = 0.0

    def show_layers(self, layers: Sequence[Layer]) -> None:
        """Show these layers; each layer has a scale of its own."""
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
            scale = heat.scale_of(grid)
            self._images.append([heat.image(one[::-1], dark, scale) for one in grid])

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the layers side by side, then the map under the mouse, enlarged."""
        self._boxes = []
        if not self._layers:
            empty(painter, area, self.theme, "Units are shown for models on two features")
            return
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        inner = area.adjusted(EDGE, 2, -EDGE, -8)
        painter.setFont(self.theme.font(11, 500))
        metrics = QFontMetricsF(painter.font())
        wide = inner.width() / len(self._layers)
        side = side_of([len(images) for images in self._images], wide - 8, inner.height() - 20)
        rows = max(-(-len(images) // _across(wide - 8, side)) for images in self._images)
        self._top = max(0.0, min(self._top, rows * (side + GAP) + 20 - inner.height()))
        painter.setClipRect(area.adjusted(0, 0, 0, -2))
        for column, (layer, images) in enumerate(zip(self._layers, self._images, strict=True)):
            x = inner.left() + column * wide
            painter.setPen(self.theme.ink2)
            name = metrics.elidedText(layer.name, Qt.TextElideMode.ElideRight, wide - 8)
            across = _across(wide - 8, side)
            painter.drawText(QPointF(x, inner.top() + metrics.ascent() - self._top), name)
            for unit, image in enumerate(images):
                box = QRectF(
                    x + unit % across * (side + GAP),
                    inner.top() + 20 - self._top + unit // across * (side + GAP),
                    side,
                    side,
                )
                self._boxes.append((column, unit, box))
                self._draw_map(painter, box, image)
        painter.setClipping(False)
        self._draw_enlarged(painter, area)

    def _draw_map(self, painter: QPainter, box: QRectF, image: QImage) -> None:
        clip = QPainterPath()
        clip.addRoundedRect(box, 5, 5)
        painter.save()
        painter.setClipPath(clip, Qt.ClipOperation.IntersectClip)
        painter.drawImage(box, image)
        painter.restore()
        painter.setPen(QPen(self.theme.line, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, 5, 5)

    def _draw_enlarged(self, painter: QPainter, area: QRectF) -> None:
        found = self._under()
        if found is None:
            return
        column, unit, box = found
        side = min(LARGE * self.theme.scale, area.height() - 30, area.width() - 20)
        left = box.right() + 10
        if left + side + 8 > area.right():
            left = max(area.left() + 4, box.left() - side - 18)
        top = min(max(area.top() + 4, box.center().y() - side / 2), area.bottom() - side - 26)
        card = QRectF(left, top, side + 8, side + 26)
        painter.setPen(QPen(self.theme.line_strong, 1))
        painter.setBrush(self.theme.panel)
        painter.drawRoundedRect(card, 8, 8)
        painter.drawImage(QRectF(left + 4, top + 4, side, side), self._images[column][unit])
        painter.setPen(self.theme.ink)
        painter.setFont(self.theme.font(12, 500))
        below = QRectF(left + 8, top + side + 4, side - 8, 20)
        words = f"{self._layers[column].name}, unit {unit}"
        short = QFontMetricsF(painter.font()).elidedText(
            words, Qt.TextElideMode.ElideLeft, side - 8
        )
        painter.drawText(below, Qt.AlignmentFlag.AlignVCenter, short)

    def _under(self) -> tuple[int, int, QRectF] | None:
        if self._mouse is None:
            return None
        return next((one for one in self._boxes if one[2].contains(self._mouse)), None)

    def handle(self, happened: QEvent) -> bool:
        """Enlarge the map under the mouse; scroll with the wheel."""
        if isinstance(happened, QWheelEvent):
            self._top -= happened.angleDelta().y() / 3
            self.refresh()
            return True
        if isinstance(happened, QMouseEvent) or happened.type() == QEvent.Type.Leave:
            inside = isinstance(happened, QMouseEvent)
            self._mouse = happened.position() if isinstance(happened, QMouseEvent) else None
            found = self._under() if inside else None
            self.hovered.emit(*((self._layers[found[0]].name, found[1]) if found else ("", -1)))
            self.refresh()
        return False


def side_of(units: Sequence[int], wide: float, high: float) -> float:
    """Return the greatest side at which every layer's maps fit into ``wide`` by ``high`` pixels."""
    for side in range(BIGGEST, SMALLEST, -1):
        across = _across(wide, side)
        if side <= wide and all(-(-count // across) * (side + GAP) <= high for count in units):
            return float(side)
    return float(SMALLEST)


def _across(wide: float, side: float) -> int:
    return max(1, int((wide + GAP) // (side + GAP)))
