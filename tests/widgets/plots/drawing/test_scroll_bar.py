import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradscribe.widgets.plots.views.gradient_bars import GradientBars
from gradscribe.widgets.plots.views.histograms import TensorHistogram, TensorHistograms
from tests.widgets.pixels import near


def wheel(plot, notches):
    at = QPointF(plot.canvas.rect().center())
    buttons, keys = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    moved = QPoint(0, 120 * notches)
    turned = QWheelEvent(
        at, at, QPoint(), moved, buttons, keys, Qt.ScrollPhase.NoScrollPhase, False
    )
    QApplication.sendEvent(plot.canvas, turned)


@pytest.fixture
def bars(shown, qtbot):
    plot = shown(GradientBars(), 300, 200)
    plot.show_norms([f"layers.{i}.weight" for i in range(40)], [0.0] * 39 + [1.0])
    plot.grab()
    qtbot.waitUntil(plot.scroller.isVisible)
    return plot


def test_what_has_room_has_no_scroll_bar(shown, qtbot):
    plot = shown(GradientBars(), 300, 200)
    plot.show_norms(["a", "b"], [1.0, 0.5])
    plot.grab()
    qtbot.wait(0)
    assert not plot.scroller.isVisible()


def test_the_wheel_brings_the_last_row_and_goes_no_further(bars, look):
    assert near(look(bars), bars.theme.backward) == 0
    wheel(bars, -100)
    assert near(look(bars), bars.theme.backward) > 100
    assert bars.scroller.value() == bars.scroller.maximum()
    wheel(bars, 100)
    assert near(look(bars), bars.theme.backward) == 0
    assert bars.scroller.value() == 0


def test_keys_bring_the_last_row_too(bars, look):
    QTest.keyClick(bars.scroller, Qt.Key.Key_End)
    assert near(look(bars), bars.theme.backward) > 100
    QTest.keyClick(bars.scroller, Qt.Key.Key_PageUp)
    assert bars.scroller.value() < bars.scroller.maximum()


def test_the_scroll_bar_stands_beside_the_numbers(bars):
    assert bars.scroller.geometry().right() == bars.canvas.width() - 1
    assert bars.scroller.width() <= 16
    assert bars.scroller.accessibleName() == "Gradient sizes, further down"


def test_it_goes_where_the_rows_have_room_again(bars, qtbot):
    wheel(bars, -100)
    bars.resize(300, 1200)
    bars.grab()
    qtbot.waitUntil(lambda: not bars.scroller.isVisible())
    assert bars.scroller.value() == 0


def test_fewer_rows_are_seen_from_the_first_on(bars, look, qtbot):
    wheel(bars, -100)
    bars.show_norms(["a", "b"], [1.0, 1.0])
    assert near(look(bars), bars.theme.backward) > 100
    qtbot.waitUntil(lambda: not bars.scroller.isVisible())


def test_histograms_scroll_too(shown, look, qtbot):
    plot = shown(TensorHistograms(), 300, 260)
    counts = np.array([3, 9, 1])
    plot.show_histograms([TensorHistogram(f"w{i}", "weight", counts, -1.0, 1.0) for i in range(30)])
    before = look(plot)
    qtbot.waitUntil(plot.scroller.isVisible)
    plot.scroller.setValue(37)
    assert not np.array_equal(look(plot), before)
