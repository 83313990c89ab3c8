"""Scroll bar on a canvas, for plots that are higher than the canvas."""

import math

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QScrollBar

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.plots.plot import Plot

NOTCH = 120
"""The `angleDelta` of a notch of the mouse wheel."""


class CanvasScrollBar(QScrollBar):
    """Scroll bar at the right edge of a plot's canvas, shown while the plot is higher."""

    def __init__(self, plot: Plot, notch: float) -> None:
        """``notch``: pixels per notch of the wheel or arrow key."""
        super().__init__(Qt.Orientation.Vertical, plot.canvas)
        self._canvas = plot.canvas
        self._area, self._high = QRectF(), 0.0
        self.setAccessibleName(
            tr("{accessiblename}, further down", accessiblename=plot.accessibleName())
        )
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.setSingleStep(round(notch))
        self.hide()
        # Deferred: moving widgets during painting would cause another painting.
        self._placing = single_shot(self, self._place)
        self.valueChanged.connect(lambda _: plot.refresh())

    def top(self, high: float, area: QRectF) -> float:
        """Return the scroll offset in pixels for a plot ``high`` pixels high, seen in ``area``."""
        if (high, area) != (self._high, self._area):
            self._high, self._area = high, QRectF(area)
            self._placing.start()
        return min(float(self.value()), max(0.0, high - area.height()))

    def _place(self) -> None:
        beyond = max(0, math.ceil(self._high - self._area.height()))
        self.setRange(0, beyond)
        self.setPageStep(max(1, int(self._area.height())))
        wide = self.sizeHint().width()
        left = self._canvas.width() - wide
        self.setGeometry(left, int(self._area.top()), wide, int(self._area.height()))
        self.setVisible(beyond > 0)

    def turn(self, happened: QWheelEvent) -> bool:
        """Scroll by the wheel; return True, as the event is consumed."""
        self.setValue(self.value() - round(happened.angleDelta().y() / NOTCH * self.singleStep()))
        return True
