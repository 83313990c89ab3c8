"""The numbers of a figure's axes under the hand: gestures, keys, menu, readout and table."""

import csv
import io

import numpy as np
import pytest
from matplotlib.figure import Figure as MplFigure
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication

from gradscribe.engine.plotting.contents import axes_of
from gradscribe.engine.protocol.figures import FigureAxes, FigureLine
from gradscribe.playback.text import formatting
from gradscribe.widgets.base.theme import Theme, contrast
from gradscribe.widgets.charts.plane import PlaneHands
from gradscribe.widgets.plots.figures.axes_plot import LEAST_CONTRAST, FigureAxesPlot
from tests.widgets.charts.test_plane import SHIFT, PlaneHand, entry

X = np.linspace(0.0, 4.0, 41)


def explored(axes):
    return PlaneHands(lambda make_canvas: FigureAxesPlot(axes, "Loss", make_canvas=make_canvas))


@pytest.fixture
def mpl():
    axes = MplFigure().add_subplot()
    axes.plot(X, X**2, label="square", color="#aa3300")
    axes.scatter([1.0, 2.0], [8.0, 4.0], label="dots", color="#008855")
    axes.set(xlim=(0, 4), ylim=(-2, 18), title="Loss", xlabel="step", ylabel="value")
    return axes


@pytest.fixture
def hand(shown, mpl):
    (axes,) = axes_of(mpl.figure)
    hands = explored(axes)
    shown(hands.widget, 560, 420)
    return PlaneHand(hands)


def table(hand):
    entry(hand, "Copy the numbers in sight").trigger()
    return list(csv.reader(io.StringIO(QGuiApplication.clipboard().text())))


def test_the_axes_are_those_of_matplotlib(hand, mpl):
    assert hand.ends() == (*mpl.get_xlim(), *mpl.get_ylim())
    assert hand.chart.caption.said() == "across: step · up: value"
    assert [line.name for line in hand.chart.lines] == ["square", "dots"]
    assert [line.is_scatter for line in hand.chart.lines] == [False, True]
    assert hand.chart.line_color(0).name() == "#aa3300"


def test_wheel_axis_drag_keys_and_double_click_move_it(hand):
    hand.wheel(0.5, 0.5)
    assert hand.ends() == pytest.approx((0.4, 3.6, 0, 16), abs=0.05)
    hand.drag((0.5, 0.5), (0.25, 0.5))
    assert hand.ends() == pytest.approx((1.2, 4.4, 0, 16), abs=0.05)
    hand.double_click(0.5, 0.9)
    assert hand.ends() == (0, 4, -2, 18)
    frame = hand.chart.drawn_axes.area
    hand.wheel(0, 0, place=QPointF(frame.left() - 10, frame.center().y()))
    assert hand.ends() == pytest.approx((0, 4, 0, 16), abs=0.05)
    hand.key(Qt.Key.Key_Home)
    hand.key(Qt.Key.Key_Right)
    assert hand.ends() == pytest.approx((0.4, 4.4, -2, 18))


def test_the_table_has_the_plotted_numbers_to_the_bit(hand):
    head, *rows = table(hand)
    assert head == ["line", "x", "y"]
    wanted = [("square", x, y) for x, y in zip(X, X**2, strict=True)]
    wanted += [("dots", 1.0, 8.0), ("dots", 2.0, 4.0)]
    assert [(name, float(x), float(y)) for name, x, y in rows] == wanted
    hand.wheel(0.5, 0.5, 3)
    left, right, low, high = hand.ends()
    seen = [w for w in wanted if left <= w[1] <= right and low <= w[2] <= high]
    assert 0 < len(seen) < len(wanted)
    assert [(name, float(x), float(y)) for name, x, y in table(hand)[1:]] == seen


def test_a_region_is_measured_line_by_line(hand):
    hand.drag((0.2, 0.05), (0.7, 0.95), SHIFT)
    x, y = hand.hands.region
    inside = (x.low <= X) & (x.high >= X) & (y.low <= X**2) & (y.high >= X**2)
    words = hand.hands.words()
    mean, least = ((X**2)[inside].mean(), (X**2)[inside].min())
    assert words[0] == f"{inside.sum() + 2} points"
    assert words[1] == (
        f"square  {inside.sum()} points  mean {formatting.number(mean)}  "
        f"least {formatting.number(least)}"
    )
    assert words[2].startswith("dots  2 points  mean 6")


def test_each_axis_is_switched_to_a_logarithm_and_back(hand):
    entry(hand, "Logarithmic axis up").trigger()
    _, y = hand.hands.navigation.axes()
    assert y.log
    assert 0 < y.low < 0.01 < 16 < y.high
    assert entry(hand, "Logarithmic axis up").isChecked()
    entry(hand, "Logarithmic axis across").trigger()
    assert hand.hands.navigation.axes()[0].log
    entry(hand, "Logarithmic axis up").trigger()
    entry(hand, "Logarithmic axis across").trigger()
    assert hand.ends() == (0, 4, -2, 18)


def test_a_moved_axis_takes_another_scale(hand):
    hand.wheel(0.5, 0.5)
    entry(hand, "Logarithmic axis up").trigger()
    assert hand.hands.navigation.axes()[1].log
    hand.chart.grab()
    hand.wheel(0.5, 0.5)
    assert hand.hands.navigation.axes()[1].log
    entry(hand, "Freeze the axes").trigger()
    entry(hand, "Logarithmic axis up").trigger()
    assert hand.ends() == (0, 4, -2, 18)


def test_the_nearest_point_is_read(hand, monkeypatch):
    words = []
    monkeypatch.setattr(
        "gradscribe.widgets.plots.figures.axes_plot.draw_bubble",
        lambda _painter, _frame, _at, lines, *_: words.append(lines),
    )
    hand.move(0.25, 0.5)
    hand.chart.grab()
    assert words[-1] == ["x = 1  y = 8", "dots"]
    hand.move(0.9, 0.1)
    hand.chart.grab()
    assert words[-1][0].startswith("(3.6")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_line_is_lost_in_the_ground(shown, theme):
    look = Theme.load(theme)
    numbers = np.array([0.0, 1.0]).tobytes()
    line = FigureLine("pale", numbers, numbers, look.panel.name())
    hands = explored(FigureAxes((0, 0, 1, 1), (0, 1, 0, 1), lines=(line,)))
    plot = shown(hands.widget, 400, 300)
    plot.set_theme(look)
    assert contrast(plot.line_color(0), look.panel) >= LEAST_CONTRAST
    assert contrast(QColor(line.color), look.panel) < LEAST_CONTRAST


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("is_scatter", [False, True])
@pytest.mark.parametrize(
    "numbers", [[1.0], [np.nan, np.nan], [np.inf, -np.inf, 1.0], [1e300, -1e300], [5e-324, 0.0]]
)
def test_odd_numbers_are_drawn_and_explored(shown, numbers, is_scatter, log):
    data = np.array(numbers).tobytes()
    line = FigureLine("odd", data, data, "", is_scatter)
    hands = explored(FigureAxes((0, 0, 1, 1), (-1, 1, -1, 1), lines=(line,)))
    shown(hands.widget, 400, 300)
    for side in (0, 1):
        hands.plot.set_log(side, log)
    hand = PlaneHand(hands)
    hand.wheel(0.5, 0.5, 3)
    hand.drag((0.1, 0.1), (0.9, 0.9), SHIFT)
    hand.move(0.5, 0.5)
    hand.chart.grab()
    assert "".join(hands.table()).startswith("line,x,y\n")


def test_axes_without_lines_say_so(shown):
    hands = explored(FigureAxes((0, 0, 1, 1), (0, 1, 0, 1)))
    shown(hands.widget, 400, 300).grab()
    assert hands.plot.fitted(None) is None
    assert "".join(hands.table()) == "line,x,y\n"
