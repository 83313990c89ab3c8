"""What a widget has painted, kept for as long as it looks the same.

Qt wants a widget anew with whatever changes above it or around it: a card that opens over the
window, another size of a column, a theme that is put on.
"""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPalette, QPixmap
from PySide6.QtWidgets import QWidget


class KeptPicture:
    """The picture of one widget; ``draw`` makes it where there is none of its size."""

    def __init__(self, widget: QWidget, draw: Callable[[QPainter], None]) -> None:
        self._widget, self._draw = widget, draw
        self._kept = QPixmap()
        self._key: tuple[object, ...] = ()

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
                painter.drawPixmap(0, 0, self._picture(ratio, depends))
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

    def _picture(self, ratio: float, depends: tuple[object, ...]) -> QPixmap:
        widget = self._widget
        key = (widget.width(), widget.height(), ratio, *depends)
        if key != self._key:
            self._key = ()
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
        return self._kept

    def _draw_into(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw(painter)
