"""What a widget has painted, kept for as long as it looks the same.

Qt wants a widget anew with whatever changes above it or around it: a card that opens over the
window, another size of a column, a theme that is put on.
"""

import time
from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QPainter, QPalette, QPixmap
from PySide6.QtWidgets import QWidget

from widgets.once import once

DEAR_MS = 4.0
"""A picture that takes longer is not drawn in the turn that gives the whole window another size."""


class KeptPicture:
    """The picture of one widget; ``draw`` makes it where there is none of its size."""

    def __init__(self, widget: QWidget, draw: Callable[[QPainter], None]) -> None:
        self._widget, self._draw = widget, draw
        self._kept = QPixmap()
        self._key: tuple[object, ...] = ()
        self._took_ms = 0.0
        self._later = once(widget, self.refresh)

    def refresh(self) -> None:
        """Have another picture made, and the widget painted."""
        self._key = ()
        self._widget.update()

    def paint(self, *depends: object) -> None:
        """Paint the widget, in its `paintEvent`; what it ``depends`` on is compared."""
        ratio = self._widget.devicePixelRatioF()
        painter = QPainter(self._widget)
        try:
            if ratio == round(ratio):
                late = self._is_late(ratio, depends)
                painter.drawPixmap(0, 0, self._kept if late else self._picture(ratio, depends))
                if late:
                    self._later.start()
            else:
                # A picture whose pixels lie between those of the screen would be blurred.
                self._draw_into(painter)
        finally:
            painter.end()

    def prepare(self, *depends: object) -> None:
        """Make the picture before it is to be painted, where the widget is to be seen at all."""
        ratio = self._widget.devicePixelRatioF()
        if self._widget.isVisible() and ratio == round(ratio):
            self._picture(ratio, depends)

    def _is_late(self, ratio: float, depends: tuple[object, ...]) -> bool:
        """Tell whether the picture of another size does for now: the next turn draws this one.

        Not so in a picture of the widget, which has no next turn.
        """
        if self._took_ms < DEAR_MS or self._key[2:] != (ratio, *depends):
            return False
        widget = self._widget
        store = widget.backingStore()
        is_seen = store is not None and widget.redirected(QPoint()) is store.paintDevice()
        return is_seen and self._key[:2] != (widget.width(), widget.height())

    def _picture(self, ratio: float, depends: tuple[object, ...]) -> QPixmap:
        widget = self._widget
        key = (widget.width(), widget.height(), ratio, *depends)
        if key != self._key:
            self._key, since = (), time.thread_time()
            made = self._kept
            if made.size() != widget.size() * ratio:
                made = QPixmap(widget.size() * ratio)
            made.setDevicePixelRatio(ratio)
            made.fill(Qt.GlobalColor.transparent)
            painter = QPainter(made)
            try:
                painter.setFont(widget.font())
                painter.setPen(widget.palette().color(QPalette.ColorRole.WindowText))
                self._draw_into(painter)
            finally:
                painter.end()
            self._kept, self._key = made, key
            self._took_ms = 1000 * (time.thread_time() - since)
        return self._kept

    def _draw_into(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw(painter)
