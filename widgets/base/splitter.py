"""A splitter whose handles are seen, not only found."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSplitter, QSplitterHandle, QWidget

GRIP_LENGTH, GRIP_WIDTH = 28.0, 4.0
"""Pixels of the grip in the middle of a handle."""


class GripSplitter(QSplitter):
    """A splitter with a grip in the middle of each handle; no part collapses."""

    def __init__(
        self, direction: Qt.Orientation, gutter: int, parent: QWidget | None = None
    ) -> None:
        """``gutter``: pixels between two parts."""
        super().__init__(direction, parent)
        self.setHandleWidth(gutter)
        self.setChildrenCollapsible(False)

    def createHandle(self) -> QSplitterHandle:
        """Return a handle with a grip; called by Qt."""
        return _GripHandle(self.orientation(), self)


class _GripHandle(QSplitterHandle):
    def __init__(self, direction: Qt.Orientation, splitter: QSplitter) -> None:
        super().__init__(direction, splitter)
        self.setToolTip("Drag to share the space")

    def paintEvent(self, happened: QPaintEvent) -> None:
        """Draw the grip over the background; called by Qt."""
        super().paintEvent(happened)
        is_upright = self.orientation() == Qt.Orientation.Horizontal
        wide, high = (GRIP_WIDTH, GRIP_LENGTH) if is_upright else (GRIP_LENGTH, GRIP_WIDTH)
        grip = QRectF(0, 0, min(wide, self.width() - 4), min(high, self.height() - 4))
        grip.moveCenter(QPointF(self.width() / 2, self.height() / 2))
        role = QPalette.ColorRole.PlaceholderText if self.underMouse() else QPalette.ColorRole.Dark
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.palette().color(role))
            painter.drawRoundedRect(grip, GRIP_WIDTH / 2, GRIP_WIDTH / 2)
