"""Pixmap cache of painted cards: drawing a pixmap costs a hundredth of painting the card."""

from collections import OrderedDict
from collections.abc import Callable, Hashable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPixmap

BUDGET = 64 << 20
"""Bytes of pixmaps in the cache; the least recently drawn are dropped first."""


class SpriteCache:
    """Pixmaps by a key that names everything their pixels depend on."""

    def __init__(self, budget: int = BUDGET) -> None:
        self._pixmaps: OrderedDict[Hashable, QPixmap] = OrderedDict()
        self._budget = budget
        self.bytes = 0
        self.is_zooming = False
        """True while the zoom is new and may change soon: filling the cache would not pay off."""

    def __len__(self) -> int:
        """Return the number of cached pixmaps."""
        return len(self._pixmaps)

    def clear(self) -> None:
        """Drop every pixmap."""
        self._pixmaps.clear()
        self.bytes = 0

    def draw(
        self,
        painter: QPainter,
        key: Hashable,
        area: QRectF,
        zoom: float,
        paint: Callable[[QPainter], None],
    ) -> None:
        """Draw what ``paint`` paints inside ``area`` (scene units), from its pixmap if it has one.

        ``painter`` must be in scene units at ``zoom``; the pixmap is put on whole device pixels, so
        that its text stays sharp.
        """
        ratio = painter.device().devicePixelRatioF()
        corner = painter.transform().map(area.topLeft())
        if self.is_zooming and (key, zoom, ratio) not in self._pixmaps:
            away = corner * ratio
            away = QPointF(round(away.x()), round(away.y())) - away
            painter.translate(away / (ratio * zoom))
            paint(painter)
            painter.translate(-away / (ratio * zoom))
            return
        pixmap = self._get((key, zoom, ratio), area, zoom, ratio, paint)
        painter.save()
        painter.resetTransform()
        painter.drawPixmap(
            QPointF(round(corner.x() * ratio) / ratio, round(corner.y() * ratio) / ratio), pixmap
        )
        painter.restore()

    def _get(
        self,
        key: Hashable,
        area: QRectF,
        zoom: float,
        ratio: float,
        paint: Callable[[QPainter], None],
    ) -> QPixmap:
        cached = self._pixmaps.get(key)
        if cached is not None:
            self._pixmaps.move_to_end(key)
            return cached
        width = max(1, round(area.width() * zoom * ratio + 1))
        height = max(1, round(area.height() * zoom * ratio + 1))
        pixmap = QPixmap(width, height)
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        inner = QPainter(pixmap)
        try:
            inner.setRenderHints(_HINTS)
            inner.scale(zoom, zoom)
            inner.translate(-area.topLeft())
            paint(inner)
        finally:
            inner.end()
        self._pixmaps[key] = pixmap
        self.bytes += width * height * 4
        while self.bytes > self._budget and len(self._pixmaps) > 1:
            _, old = self._pixmaps.popitem(last=False)
            self.bytes -= old.width() * old.height() * 4
        return pixmap


_HINTS = QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing
