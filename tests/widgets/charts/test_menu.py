"""Every entry of the menu of a chart, opened and clicked as a user does."""

import csv
import io

import numpy as np
import pytest
from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from gradscribe.widgets.plots.views.curve_plot import PlotCurve
from tests.widgets.charts.conftest import series

# Menus that pop up offscreen.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

SHIFT = Qt.KeyboardModifier.ShiftModifier
LIMITS = np.float32([1e-45, 3.4028235e38, -0.0, 0.1, np.nan, np.inf, -np.inf, 1 / 3])


@pytest.fixture
def choose(hand):
    """Opens the menu over the middle of the chart and clicks the entry of that name."""

    def click(name):
        at = hand.at(0.5, 0.5).toPoint()
        where = hand.port.mapToGlobal(at)
        asked = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, where)
        QApplication.sendEvent(hand.port, asked)
        menu = QApplication.activePopupWidget()
        found = [action for action in menu.actions() if action.text() == name]
        if not found:
            menu.close()
            raise LookupError(name)
        middle = menu.actionGeometry(found[0]).center()
        QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=middle)

    return click


@pytest.fixture
def save_as(monkeypatch):
    def answer(path):
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))

    return answer


def read(text):
    rows = list(csv.reader(io.StringIO(text)))
    return rows[0], np.array([np.float32(row[1]) for row in rows[1:]], np.float32)


def test_show_all(chart, hand, choose):
    hand.wheel(0.5, 0.5)
    choose("Show all")
    assert chart.is_following


def test_enlarge(chart, choose, qtbot):
    with qtbot.waitSignal(chart.menu.enlarged, timeout=1000):
        choose("Enlarge")


def test_freeze_is_switched_on_and_off(chart, choose):
    choose("Freeze the axes")
    assert chart.navigation.is_frozen
    choose("Freeze the axes")
    assert not chart.navigation.is_frozen


def test_the_axis_is_made_logarithmic_and_linear(chart, choose):
    choose("Logarithmic axis")
    assert chart.log
    choose("Logarithmic axis")
    assert not chart.log


def test_entries_of_a_stretch_are_there_only_with_it(chart, hand, choose, qtbot):
    with pytest.raises(LookupError):
        choose("Zoom to the stretch")
    hand.drag((0.25, 0.5), (0.75, 0.5), SHIFT)
    first = chart.first_step
    with qtbot.waitSignal(chart.retrained, timeout=1000) as sent:
        choose(f"Train again from step {first:,}")
    assert sent.args == [first]
    stretch = chart.stretch
    choose("Zoom to the stretch")
    assert chart.steps == stretch
    choose("Drop the stretch")
    assert chart.stretch is None


def test_the_picture_is_copied(chart, choose, qtbot):
    with qtbot.waitSignal(chart.menu.said, timeout=2000):
        choose("Copy the picture")
    assert QGuiApplication.clipboard().image().size() == chart.size() * 2


@pytest.mark.parametrize("numbers", [LIMITS, np.linspace(100, 0, 5000, dtype=np.float32)])
def test_the_table_has_every_number_to_the_bit(chart, choose, qtbot, tmp_path, save_as, numbers):
    chart.set_curves([PlotCurve("batch", series(numbers), chart.theme.forward)])
    with qtbot.waitSignal(chart.menu.said, timeout=4000):
        choose("Copy the numbers in sight")
    save_as(tmp_path / "table")
    with qtbot.waitSignal(chart.menu.said, timeout=4000):
        choose("Save the numbers in sight as CSV…")
    for text in (QGuiApplication.clipboard().text(), (tmp_path / "table.csv").read_text()):
        head, found = read(text)
        assert head == ["step", "batch"]
        real = ~np.isnan(numbers)
        assert np.array_equal(real, ~np.isnan(found))
        assert found[real].tobytes() == numbers[real].tobytes()


def test_pictures_are_saved(chart, choose, qtbot, tmp_path, save_as):
    for name, kind in (("PNG", "png"), ("SVG", "svg")):
        save_as(tmp_path / f"chart.{kind}")
        with qtbot.waitSignal(chart.menu.said, timeout=4000):
            choose(f"Save the picture as {name}…")
    assert QImage(str(tmp_path / "chart.png")).size() == chart.size() * 2
    assert QSvgRenderer(QByteArray((tmp_path / "chart.svg").read_bytes())).isValid()


def test_a_file_that_cannot_be_written_is_said(chart, choose, qtbot, tmp_path, save_as):
    save_as(tmp_path / "missing" / "chart.png")
    with qtbot.waitSignal(chart.menu.said, timeout=2000) as sent:
        choose("Save the picture as PNG…")
    assert "cannot be written" in sent.args[0]
    assert not list(tmp_path.iterdir())
