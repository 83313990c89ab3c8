"""Pixmap cache of a widget's painting, valid while the widget looks the same.

Qt repaints a widget with whatever changes above or around it: a card that opens over the window,
another column width, another theme.
"""

import time
from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QPainter, QPalette, QPixmap
from PySide6.QtWidgets import QWidget

from gradscribe.widgets.base.single_shot import single_shot

SLOW_MS = 4.0
"""A pixmap that takes longer is not redrawn in the turn that resizes the whole window."""


class PixmapCache:
    """Cached painting of one widget; ``draw`` paints it where no pixmap of its size is cached."""

    def __init__(self, widget: QWidget, draw: Callable[[QPainter], None]) -> None:
        self._widget, self._draw = widget, draw
        self._pixmap = QPixmap()
        self._key: tuple[object, ...] = ()
        self._took_ms = 0.0
        self._later = single_shot(widget, self.refresh)

    def refresh(self) -> None:
        """Drop the pixmap and repaint the widget."""
        self._key = ()
        self._widget.update()

    def paint(self, *depends: object) -> None:
        """Paint the widget in its `paintEvent`; the pixmap is reused while ``depends`` is equal."""
        ratio = self._widget.devicePixelRatioF()
        with QPainter(self._widget) as painter:
            if ratio == round(ratio):
                late = self._is_late(ratio, depends)
                painter.drawPixmap(0, 0, self._pixmap if late else self._current(ratio, depends))
                if late:
                    self._later.start()
            else:
                # A pixmap whose pixels lie between those of the screen would be blurred.
                self._draw_into(painter)

    def prepare(self, *depends: object) -> None:
        """Draw the pixmap ahead of the paint event, if the widget is visible."""
        ratio = self._widget.devicePixelRatioF()
        if self._widget.isVisible() and ratio == round(ratio):
            self._current(ratio, depends)

    def _is_late(self, ratio: float, depends: tuple[object, ...]) -> bool:
        """Return whether the pixmap of another size does for now: the next turn redraws it.

        Not so for a grab of the widget, which has no next turn.
        """
        if self._took_ms < SLOW_MS or self._key[2:] != (ratio, *depends):
            return False
        widget = self._widget
        store = widget.backingStore()
        is_seen = store is not None and widget.redirected(QPoint()) is store.paintDevice()
        return is_seen and self._key[:2] != (widget.width(), widget.height())

    def _current(self, ratio: float, depends: tuple[object, ...]) -> QPixmap:
        widget = self._widget
        key = (widget.width(), widget.height(), ratio, *depends)
        if key != self._key:
            self._key, since = (), time.thread_time()
            pixmap = self._pixmap
            if pixmap.size() != widget.size() * ratio:
                pixmap = QPixmap(widget.size() * ratio)
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(Qt.GlobalColor.transparent)
            with QPainter(pixmap) as painter:
                painter.setFont(widget.font())
                painter.setPen(widget.palette().color(QPalette.ColorRole.WindowText))
                self._draw_into(painter)
            self._pixmap, self._key = pixmap, key
            self._took_ms = 1000 * (time.thread_time() - since)
        return self._pixmap

    def _draw_into(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw(painter)
