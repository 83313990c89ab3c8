"""A program's figure, opened large in the real window, has charts of its numbers."""

import csv
import io

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from gradscribe.engine.run.run import record
from gradscribe.widgets.charts.plane import PlaneHands
from gradscribe.widgets.plots.drawing.axes import Axis
from gradscribe.widgets.plots.figures.axes_plot import FigureAxesPlot

SOURCE = """import matplotlib.pyplot as plt
fig, axs = plt.subplots(1, 3)
axs[0].plot([1, 2, 4], [3.5, 0.1, -2], label="a"); axs[0].set_title("Lines")
axs[1].imshow([[1, 2], [3, 4]])
axs[2].scatter([1, 2], [1e-3, 10]); axs[2].set_yscale("log")
plt.show()
"""


@pytest.fixture
def large(window, link, qtbot):
    """The window of the figure, once its charts are there."""
    tape = record(SOURCE)
    assert tape.error is None
    window.console.set_figures(tape.figures)
    made = window.console.figures.open(tape.figures[0])
    qtbot.waitUntil(lambda: made.pages.count() == 3)
    return made


def test_each_pair_of_axes_with_numbers_has_a_page(large):
    titles = [large.pages.tabText(n) for n in range(large.pages.count())]
    assert titles == ["Picture", "Lines", "Axes 3"]
    assert large.pages.tabBar().isVisible()
    plot = large.pages.widget(2)
    assert isinstance(plot, FigureAxesPlot)
    assert plot.fitted(None)[1].log


def test_keys_and_show_all_work_there(large):
    large.pages.setCurrentIndex(1)
    plot = large.pages.widget(1)
    plot.grab()
    QTest.keyClick(plot.canvas, Qt.Key.Key_Plus)
    assert plot.sight[0] is not None
    large.whole.click()
    assert plot.sight == (None, None)


def test_the_table_has_what_the_program_plotted(large, qtbot):
    plot = large.pages.widget(1)
    hands = next(child for child in plot.canvas.children() if isinstance(child, PlaneHands))
    hands.navigation.show(Axis(-9, 9), Axis(-9, 9))
    hands.menu.copy_numbers()
    qtbot.waitUntil(lambda: "clipboard" in large.note.text())
    rows = list(csv.reader(io.StringIO(QGuiApplication.clipboard().text())))
    assert [tuple(map(float, row[1:])) for row in rows[1:]] == [(1, 3.5), (2, 0.1), (4, -2)]


def test_it_takes_the_theme_of_the_window(large, window):
    for name in ("dark", "light"):
        window.settings.put("theme", name)
        window.look.finish()
        assert large.pages.widget(1).theme.dark == (name == "dark")


def test_a_closed_window_is_forgotten(large, window, qtbot):
    large.close()
    qtbot.waitUntil(lambda: window.figure_charts._open == [])
