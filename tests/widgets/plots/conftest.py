"""A plot that is shown, and the mouse over its canvas."""

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from tests.widgets.pixels import painted


class Mouse:
    """Sends real events to the canvas of a plot."""

    def __init__(self, plot):
        self.canvas = plot.canvas

    def _send(self, kind, at, button, buttons):
        at = QPointF(*at)
        place = self.canvas.mapToGlobal(at)
        sent = QMouseEvent(kind, at, place, button, buttons, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(self.canvas, sent)

    def move(self, x, y, held=Qt.MouseButton.NoButton):
        self._send(QEvent.Type.MouseMove, (x, y), Qt.MouseButton.NoButton, held)

    def press(self, x, y, button=Qt.MouseButton.LeftButton):
        self._send(QEvent.Type.MouseButtonPress, (x, y), button, button)

    def release(self, x, y, button=Qt.MouseButton.LeftButton):
        self._send(QEvent.Type.MouseButtonRelease, (x, y), button, Qt.MouseButton.NoButton)

    def leave(self):
        QApplication.sendEvent(self.canvas, QEvent(QEvent.Type.Leave))


@pytest.fixture
def mouse():
    """Return what moves over a plot."""
    return Mouse


@pytest.fixture
def look():
    """Return the pixels of a plot's canvas."""

    def pixels(plot):
        size = plot.canvas.size()
        return painted(
            lambda painter: plot.draw(painter, plot.canvas.rect().toRectF()),
            (size.width(), size.height()),
            plot.theme.panel,
        )

    return pixels
