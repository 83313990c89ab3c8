"""A chart in a window of its own: what it copies, what is its own, and its end."""

import gc
import weakref

import numpy as np
import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.charts.enlarged import enlarge_curves
from tests.widgets.charts.conftest import Hand
from tests.widgets.plots.test_plot import _pixels


@pytest.fixture
def enlarged(chart, qtbot):
    made = enlarge_curves(chart)
    made.show()
    made.chart.grab()
    yield made
    if made in QApplication.topLevelWidgets():
        made.close()


def drop_closed():
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def test_it_shows_what_its_source_shows_larger(chart, enlarged):
    assert enlarged.isWindow()
    assert enlarged.windowTitle() == "Loss"
    assert enlarged.chart.curves == chart.curves
    assert enlarged.chart.width() > chart.width()
    assert enlarged.chart.navigation.axes()[0] == chart.navigation.axes()[0]


def test_it_grows_with_the_run_and_moves_with_the_step(chart, enlarged):
    chart.curves[0].series.extend([1500], [2.0])
    chart.refresh()
    assert enlarged.chart.navigation.axes()[0].high == 1500
    chart.position = 700.0
    assert enlarged.chart.position == 700
    chart.position = None
    assert enlarged.chart.position is None
    chart.set_smoothing(15)
    assert enlarged.chart.smoothing == 15
    chart.set_caption("batch 2")
    chart.refresh()
    assert enlarged.chart.caption.said() == "batch 2"


def test_its_ranges_and_its_axis_are_its_own(chart, enlarged):
    Hand(enlarged.chart).wheel(0.5, 0.5, 3)
    assert chart.is_following
    chart.zoom(100, 200)
    assert enlarged.chart.steps != chart.steps
    enlarged.chart.set_log(True)
    assert not chart.log


def test_what_is_asked_in_it_is_asked_of_the_source(chart, enlarged):
    picked, trained, said = [], [], []
    chart.step_picked.connect(picked.append)
    chart.retrained.connect(trained.append)
    chart.menu.said.connect(said.append)
    hand = Hand(enlarged.chart)
    hand.click(0.5, 0.5)
    hand.drag((0.2, 0.5), (0.6, 0.5), Qt.KeyboardModifier.ShiftModifier)
    enlarged.chart.again.click()
    enlarged.chart.menu.copy_picture()
    assert picked == [pytest.approx(500, abs=2)]
    assert trained == [pytest.approx(200, abs=2)]
    assert said == ["The picture is on the clipboard"]
    assert "Enlarge" not in [a.text() for a in enlarged.chart.menu.menu().actions()]


@pytest.mark.parametrize("name", ["dark", "light"])
def test_it_has_the_theme_of_its_source(chart, enlarged, name):
    theme = Theme.load(name)
    chart.set_theme(theme)
    assert enlarged.chart.theme is theme
    corner = _pixels(enlarged.grab().toImage())[2, 2]
    panel = theme.panel
    assert corner.tolist() == [panel.blue(), panel.green(), panel.red()]


def test_escape_drops_the_stretch_first_and_then_closes_it(chart, enlarged):
    chart_ = enlarged.chart
    chart_.brush(100, 200)
    QTest.keyClick(chart_.view, Qt.Key.Key_Escape)
    assert chart_.stretch is None
    assert enlarged.isVisible()
    QTest.keyClick(chart_.view, Qt.Key.Key_Escape)
    assert not enlarged.isVisible()


def test_it_closes_with_the_window_of_its_source(chart, enlarged):
    chart.window().close()
    assert not enlarged.isVisible()


def test_one_that_was_closed_is_freed_and_follows_nothing(chart, qtbot):
    for _ in range(5):
        made = enlarge_curves(chart)
        made.show()
        made.grab()
        left = weakref.ref(made.chart)
        made.close()
        del made
        drop_closed()
    gc.collect()
    assert left() is None
    chart.curves[0].series.extend([1500], [np.nan])
    chart.refresh()
    chart.position = 3.0


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_shift_f10_opens_the_menu_of_the_chart(enlarged, qtbot):
    enlarged.show()
    enlarged.activateWindow()
    view = enlarged.chart.view
    view.setFocus()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is view)
    QTest.keyClick(view, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    menu = QApplication.activePopupWidget()
    assert "Copy the numbers in sight" in [action.text() for action in menu.actions()]
    menu.close()
