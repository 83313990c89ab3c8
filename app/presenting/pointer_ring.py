"""Ring around the mouse, and the ripple of a click."""

from PySide6.QtCore import QPoint, QPointF, QVariantAnimation
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from gradscribe.widgets.base.motion import is_reduced
from gradscribe.widgets.base.painting.glass import make_glass

RING, OUTLINE = QColor(255, 190, 40), QColor(0, 0, 0, 120)
"""Amber with a dark outline is seen on light and on dark ground."""
SHARE = 1 / 24
"""Radius as a share of the window's height."""
MIN_RADIUS, MAX_RADIUS = 24, 64
RING_WIDTH, OUTLINE_WIDTH = 4.0, 8.0
RIPPLE_MS = 350
RIPPLE_GROWTH = 1.0
"""Growth of the ripple's radius in its time, as a share of the ring's."""
EDGE = 6
"""Pixels of the widget around the ring."""


class PointerRing(QWidget):
    """A ring that is moved with the mouse; the mouse itself passes through."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        make_glass(self)
        self._radius = 0
        self.ripple = Ripple(over)
        self.hide()

    def set_window_height(self, height: int) -> None:
        """Fit the size of the ring to a window of this height in pixels."""
        radius = round(max(MIN_RADIUS, min(MAX_RADIUS, height * SHARE)))
        if radius != self._radius:
            middle = self.geometry().center()
            self._radius = radius
            self.resize(2 * (radius + EDGE), 2 * (radius + EDGE))
            self.show_at(middle) if self.isVisible() else None

    def show_at(self, at: QPoint) -> None:
        """Put the middle of the ring to a point of the window."""
        self.move(at - QPoint(self.width() // 2, self.height() // 2))
        if self.isHidden():
            self.show()
            self.raise_()

    def click_at(self, at: QPoint) -> None:
        """Show a ripple at a point of the window."""
        self.ripple.begin(at, self._radius)

    def paintEvent(self, happened: QPaintEvent) -> None:
        """Paint the ring."""
        middle = QPointF(self.width() / 2, self.height() / 2)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setClipRect(happened.rect())
            for color, width in ((OUTLINE, OUTLINE_WIDTH), (RING, RING_WIDTH)):
                painter.setPen(QPen(color, width))
                painter.drawEllipse(middle, self._radius, self._radius)


class Ripple(QWidget):
    """A circle that grows and fades where the mouse was pressed."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        make_glass(self)
        self._radius = 0
        self._grown = QVariantAnimation(self)
        self._grown.setStartValue(0.0)
        self._grown.setEndValue(1.0)
        self._grown.setDuration(RIPPLE_MS)
        self._grown.valueChanged.connect(self.update)
        self._grown.finished.connect(self.hide)
        self.hide()

    def begin(self, at: QPoint, radius: int) -> None:
        """Start at a point, from a ring of this radius in pixels, if things may move."""
        if is_reduced():
            return
        self._radius = radius
        side = 2 * (round(radius * (1 + RIPPLE_GROWTH)) + EDGE)
        self.setGeometry(at.x() - side // 2, at.y() - side // 2, side, side)
        self._grown.stop()
        self.show()
        self.raise_()
        self._grown.start()

    def end(self) -> None:
        """Hide it at once."""
        self._grown.stop()
        self.hide()

    def paintEvent(self, _happened: QPaintEvent) -> None:
        """Paint the circle at its present size."""
        share = float(self._grown.currentValue())
        color = QColor(RING)
        color.setAlphaF(1.0 - share)
        radius = self._radius * (1 + RIPPLE_GROWTH * share)
        middle = QPointF(self.width() / 2, self.height() / 2)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(color, RING_WIDTH * (2.0 - share)))
            painter.drawEllipse(middle, radius, radius)
