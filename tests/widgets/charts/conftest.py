"""A chart that is shown, and a hand over it."""

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradscribe.widgets.charts.curves import CurveChart
from gradscribe.widgets.plots.step_series import StepSeries
from gradscribe.widgets.plots.views.curve_plot import PlotCurve

NO_BUTTON, LEFT = Qt.MouseButton.NoButton, Qt.MouseButton.LeftButton


def series(numbers, first=0):
    made = StepSeries()
    made.extend(np.arange(first, first + len(numbers)), numbers)
    return made


class Hand:
    """Sends real events to the view of a chart; places are shares of its frame."""

    def __init__(self, chart):
        self.chart, self.port = chart, chart.view.viewport()
        chart.grab()

    def at(self, x, y):
        frame = self.chart._drawn.area
        return QPointF(frame.left() + x * frame.width(), frame.bottom() - y * frame.height())

    def _send(self, kind, at, button, buttons, keys):
        place = self.port.mapToGlobal(at)
        QApplication.sendEvent(self.port, QMouseEvent(kind, at, place, button, buttons, keys))

    def move(self, x, y, buttons=NO_BUTTON, keys=Qt.KeyboardModifier.NoModifier):
        self._send(QEvent.Type.MouseMove, self.at(x, y), NO_BUTTON, buttons, keys)

    def drag(self, start, end, keys=Qt.KeyboardModifier.NoModifier, steps=8):
        places = np.linspace(start, end, steps + 1).tolist()
        self.move(*places[0])
        self._send(QEvent.Type.MouseButtonPress, self.at(*places[0]), LEFT, LEFT, keys)
        at = [self.at(*place) for place in places]
        for place in at[1:]:
            self._send(QEvent.Type.MouseMove, place, NO_BUTTON, LEFT, keys)
        self._send(QEvent.Type.MouseButtonRelease, at[-1], LEFT, NO_BUTTON, keys)
        self.chart.grab()

    def wheel(self, x, y, notches=1, place=None):
        at = place or self.at(x, y)
        sent = QWheelEvent(
            at,
            self.port.mapToGlobal(at),
            QPoint(),
            QPoint(0, 120 * notches),
            NO_BUTTON,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(self.port, sent)
        self.chart.grab()

    def click(self, x, y):
        QTest.mouseClick(self.port, LEFT, pos=self.at(x, y).toPoint())

    def choose(self, title, x, y):
        """Open the menu at a place with the right button, and choose an entry."""
        at = self.at(x, y).toPoint()
        reason = QContextMenuEvent.Reason.Mouse
        QApplication.sendEvent(self.port, QContextMenuEvent(reason, at, self.port.mapToGlobal(at)))
        menu = QApplication.activePopupWidget()
        entries = {action.text(): action for action in menu.actions()}
        menu.close()
        entries[title].trigger()

    def double_click(self, x, y):
        self.click(x, y)
        keys = Qt.KeyboardModifier.NoModifier
        self._send(QEvent.Type.MouseButtonDblClick, self.at(x, y), LEFT, LEFT, keys)
        self._send(QEvent.Type.MouseButtonRelease, self.at(x, y), LEFT, NO_BUTTON, keys)
        self.chart.grab()

    def key(self, key):
        QTest.keyClick(self.chart.view, key)
        self.chart.grab()


@pytest.fixture
def chart(shown):
    """A chart of one curve, falling from 100 to 0 over 1,001 steps."""
    made = shown(CurveChart("Loss"), 520, 320)
    made.set_curves([PlotCurve("batch", series(np.linspace(100, 0, 1001)), made.theme.forward)])
    return made


@pytest.fixture
def hand(chart):
    return Hand(chart)
