"""Spotlight: everything in the window but a circle at the mouse is dimmed."""

from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QRegion
from PySide6.QtWidgets import QWidget

from gradscribe.widgets.base.painting.glass import make_glass

DIM = QColor(4, 8, 14, 165)
USUAL, SMALLEST, LARGEST = 0.2, 0.06, 0.6
"""Radius of the circle as a share of the window's height."""
STEP = 1.15
"""Factor of a step to a larger or smaller circle."""
_EDGE = 2


class Spotlight(QWidget):
    """The dimmed window with a bright circle; the mouse passes through."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        make_glass(self)
        self._share = USUAL
        self._at = QPoint()
        self.hide()

    @property
    def radius(self) -> float:
        """Radius of the circle, in pixels."""
        return self._share * self.height()

    @property
    def circle(self) -> QRect:
        """The bounding box of the circle."""
        radius = round(self.radius) + _EDGE
        return QRect(self._at - QPoint(radius, radius), self._at + QPoint(radius, radius))

    def aim(self, at: QPoint) -> None:
        """Move the circle to a point of the window."""
        if at != self._at:
            before = self.circle
            self._at = at
            self._repaint(before)

    def grow(self, steps: float) -> None:
        """Make the circle larger by some steps, or smaller by negative ones."""
        before = self.circle
        self._share = max(SMALLEST, min(LARGEST, self._share * STEP**steps))
        self._repaint(before)

    def _repaint(self, before: QRect) -> None:
        self.update(QRegion(before).united(QRegion(self.circle)))

    def paintEvent(self, happened: QPaintEvent) -> None:
        """Dim what is outside of the circle."""
        circle, whole = self.circle, self.rect()
        with QPainter(self) as painter:
            # Rectangles are filled much faster than a path as large as the window.
            for part in _around(circle, whole):
                painter.fillRect(part.intersected(happened.rect()), DIM)
            if not circle.intersects(happened.rect()):
                return
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            path = QPainterPath()
            path.setFillRule(Qt.FillRule.OddEvenFill)
            path.addRect(circle.intersected(whole))
            path.addEllipse(QPointF(self._at), self.radius, self.radius)
            painter.setClipRegion(QRegion(circle.intersected(whole)))
            painter.fillPath(path, DIM)


def _around(hole: QRect, whole: QRect) -> tuple[QRect, ...]:
    """Return the parts of a rectangle above, below, left and right of a hole in it."""
    hole = hole.intersected(whole)
    if hole.isEmpty():
        return (whole,)
    width, right, bottom = whole.width(), hole.x() + hole.width(), hole.y() + hole.height()
    return (
        QRect(0, 0, width, hole.y()),
        QRect(0, bottom, width, whole.height() - bottom),
        QRect(0, hole.y(), hole.x(), hole.height()),
        QRect(right, hole.y(), width - right, hole.height()),
    )
