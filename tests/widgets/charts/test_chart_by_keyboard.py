"""A chart without a mouse: its numbers, its summary, a larger one, and a pointer that keys move."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTableView

from gradscribe.playback.text import formatting
from gradscribe.widgets.charts.enlarged import enlarge_picture
from gradscribe.widgets.plots import numbers_window
from gradscribe.widgets.plots.ground import Ground
from gradscribe.widgets.plots.numbers_window import NumbersWindow
from gradscribe.widgets.plots.trials import PlottedTrial, TrialParallels
from gradscribe.widgets.plots.views.boundary import BoundaryPlot
from gradscribe.widgets.plots.views.confusion import ConfusionMatrix
from gradscribe.widgets.plots.views.gradient_bars import GradientBars
from gradscribe.widgets.plots.views.histograms import HistogramGrid, TensorHistogram
from tests.widgets.charts.test_plane import PlaneHand, explored

SHIFT = Qt.KeyboardModifier.ShiftModifier


def numbers_of(widget):
    (window,) = widget.window().findChildren(NumbersWindow)
    window.reading.finish()
    rows = [window.model.head, *window.model.rows]
    return window, rows, window.summary.toPlainText().splitlines()


def test_t_shows_the_numbers_of_curves_with_a_summary(chart, hand):
    chart.zoom(1, 3)
    hand.key(Qt.Key.Key_T)
    window, rows, summary = numbers_of(chart)
    expected = np.linspace(100, 0, 1001, dtype=np.float32)[1:4]
    assert rows[0] == ["step", "batch"]
    assert [np.float32(number) for _, number in rows[1:]] == expected.tolist()
    assert summary[0].startswith("batch, steps 0 to 1,000, last 0.0000")
    assert "falling" in summary[0]
    assert window.windowTitle() == "Loss in numbers"
    assert window.findChild(QTableView).currentIndex().row() == 0
    chart.navigation.fit()
    hand.key(Qt.Key.Key_T)
    assert numbers_of(chart)[0] is window, "it is raised, not opened twice"
    assert len(window.model.rows) == 1001
    QTest.keyClick(window.table, Qt.Key.Key_Escape)
    assert not window.isVisible()


def test_a_long_table_says_that_it_is_cut(chart, hand, monkeypatch):
    monkeypatch.setattr(numbers_window, "MOST_ROWS", 10)
    hand.key(Qt.Key.Key_T)
    window, rows, _ = numbers_of(chart)
    assert len(rows) == 11
    assert window.count.said().startswith("The first 10 rows")
    QTest.keyClick(window, Qt.Key.Key_F5)
    assert len(window.model.rows) == 10
    window.close()


def test_return_enlarges_a_chart_and_escape_comes_back(chart, hand, qtbot):
    with qtbot.waitSignal(chart.menu.enlarged, timeout=1000):
        hand.key(Qt.Key.Key_Return)


def test_a_pointer_moved_by_keys_picks_the_step_under_it(chart, hand):
    picked = []
    chart.step_picked.connect(picked.append)
    hand.key(Qt.Key.Key_C)
    steps = chart.navigation.axes()[0]
    pointer, frame = chart.view.pointer, chart._drawn.area
    before = pointer.at
    hand.key(Qt.Key.Key_Left)
    QTest.keyClick(chart.view, Qt.Key.Key_Left, SHIFT)
    assert (before - pointer.at).x() == 13
    hand.key(Qt.Key.Key_Return)
    share = (pointer.at.x() - frame.left()) / frame.width()
    assert picked == [pytest.approx(steps.number(share), abs=2)]
    assert chart.is_following, "arrows move the pointer, not the chart"
    assert chart.mouse == pointer.at
    hand.key(Qt.Key.Key_Escape)
    assert not pointer.is_on
    assert chart.mouse is None


def test_shift_space_brushes_a_stretch(chart, hand):
    hand.key(Qt.Key.Key_C)
    QTest.keyClick(chart.view, Qt.Key.Key_Space, SHIFT)
    for _ in range(5):
        hand.key(Qt.Key.Key_Right)
    hand.key(Qt.Key.Key_Space)
    low, high = chart.stretch
    steps_a_pixel = 1000 / chart._drawn.area.width()
    assert high - low == pytest.approx(60 * steps_a_pixel, rel=0.1)
    hand.key(Qt.Key.Key_C)


def test_points_are_drawn_with_the_pointer(shown):
    hands = explored(BoundaryPlot)
    plot = shown(hands.widget, 560, 440)
    logits = np.tile(np.linspace(-3, 3, 40, dtype=np.float32), (40, 1))
    plot.show_ground(Ground((-1, -1, 1, 1), np.tanh(logits / 2), logits=logits))
    plot.editable = True
    drawn = []
    plot.drawn.connect(lambda *point: drawn.append(point))
    hand = PlaneHand(hands)
    for key in (Qt.Key.Key_C, Qt.Key.Key_Right, Qt.Key.Key_Return):
        hand.key(key)
    assert len(drawn) == 1
    hand.key(Qt.Key.Key_Escape)


def gradient_bars():
    plot = GradientBars()
    plot.show_norms(("0.weight", "0.bias", "2.weight"), (0.5, None, float("nan")))
    return plot


def histograms():
    plot = HistogramGrid("Histograms", "")
    plot.show_histograms([TensorHistogram("w", "weight", np.array([1, 3]), 0.0, 1.0)])
    return plot


def confusion():
    plot = ConfusionMatrix()
    plot.show_counts([[5, 1], [2, 4]], ("cat", "dog"))
    return plot


def trials():
    plot = TrialParallels()
    plot.show_trials(("lr",), [PlottedTrial(7, (0.1,), 0.25, "lr 0.1")])
    return plot


PAINTED = {
    gradient_bars: (
        [["parameter", "norm"], ["0.weight", "0.5"], ["0.bias", ""], ["2.weight", "nan"]],
        "not finite: 2.weight",
    ),
    histograms: (
        [
            ["tensor", "kind", "from", "to", "count"],
            ["w", "weight", "0.0", "0.5", "1"],
            ["w", "weight", "0.5", "1.0", "3"],
        ],
        f"w: 4 from {formatting.number(0.0)} to {formatting.number(1.0)}",
    ),
    confusion: ([["truth", "cat", "dog"], ["cat", "5", "1"], ["dog", "2", "4"]], "2 of dog taken"),
    trials: ([["trial", "lr", "loss"], ["7", "0.1", "0.25"]], "best: lr 0.1"),
}


@pytest.mark.parametrize("make", PAINTED)
def test_painted_plots_have_numbers_and_a_summary_too(make, shown):
    plot = shown(make(), 420, 300)
    QTest.keyClick(plot.canvas, Qt.Key.Key_T)
    window, rows, summary = numbers_of(plot)
    expected, sentence = PAINTED[make]
    assert rows == expected
    assert any(line.startswith(sentence) for line in summary), summary
    window.close()


def test_a_painted_plot_is_enlarged_by_its_key_and_follows_its_source(shown, qtbot):
    plot = shown(gradient_bars(), 420, 300)
    plot.enlarges = True
    with qtbot.waitSignal(plot.enlarged, timeout=1000):
        QTest.keyClick(plot.canvas, Qt.Key.Key_Return)
    window = enlarge_picture(plot, GradientBars)
    plot.show_norms(("w",), (2.0,))
    assert list(window.chart.table()) == list(plot.table())
    window.close()
