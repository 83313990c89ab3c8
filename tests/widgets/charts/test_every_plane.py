"""The common part of boundary, fit and surface: gestures, keys, every menu entry."""

import csv
import io

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtSvg import QSvgRenderer

from gradscribe.widgets.plots.drawing.points import NO_POINTS, PlanePoints
from gradscribe.widgets.plots.ground import Ground
from gradscribe.widgets.plots.views.boundary import BoundaryPlot
from gradscribe.widgets.plots.views.fit_plot import FitPlot
from gradscribe.widgets.plots.views.loss_surface import LossSurface
from tests.widgets.charts.test_plane import SHIFT, PlaneHand, entry, explored

DRAWER = np.random.default_rng(5)


def fill_boundary(plot):
    points = DRAWER.uniform(-0.9, 0.9, (30, 2))
    plot.show_points(PlanePoints(*points.T, kinds=(points[:, 0] > 0).astype(np.intp)))
    logits = np.tile(np.linspace(-3, 3, 40, dtype=np.float32), (40, 1))
    plot.show_ground(Ground((-1, -1, 1, 1), np.tanh(logits / 2), logits=logits))


def fill_fit(plot):
    x = np.linspace(-1, 1, 21)
    plot.show_points(x, np.sin(3 * x), np.arange(21) % 3 == 0, ("t", "v"))
    plot.show_curve(np.array([-1.0, 1.0]), np.array([-0.5, 0.5]))


def fill_surface(plot):
    a = np.linspace(-2, 2, 21)
    plot.show_grid((-2.0, -2.0, 2.0, 2.0), a**2 + a[:, None] ** 2, ("w", "b"))
    plot.show_path(np.array([[-1.5, 1.0], [0.0, 0.5], [1.0, 0.0]]), [0, 40, 90])


PLANES = {
    "boundary": (BoundaryPlot, fill_boundary),
    "fit": (FitPlot, fill_fit),
    "surface": (LossSurface, fill_surface),
}


@pytest.fixture(params=PLANES)
def hand(request, shown):
    kind, fill = PLANES[request.param]
    hands = explored(kind)
    shown(hands.widget, 560, 420)
    fill(hands.widget)
    return PlaneHand(hands)


def test_over_an_axis_the_wheel_zooms_that_axis(hand):
    frame, whole = hand.chart.drawn_axes.area, hand.ends()
    hand.wheel(0, 0, place=QPointF(frame.left() - 10, frame.center().y()))
    assert hand.ends()[:2] == whole[:2]
    assert hand.ends()[3] - hand.ends()[2] == pytest.approx(0.8 * (whole[3] - whole[2]))
    hand.key(Qt.Key.Key_Home)
    frame = hand.chart.drawn_axes.area
    hand.wheel(0, 0, place=QPointF(frame.center().x(), frame.bottom() + 10))
    assert hand.ends()[2:] == whole[2:]
    assert hand.ends()[1] - hand.ends()[0] == pytest.approx(0.8 * (whole[1] - whole[0]))


@pytest.mark.parametrize(
    ("key", "moved"),
    [
        (Qt.Key.Key_Right, (0.1, 0.1, 0, 0)),
        (Qt.Key.Key_Left, (-0.1, -0.1, 0, 0)),
        (Qt.Key.Key_Up, (0, 0, 0.1, 0.1)),
        (Qt.Key.Key_Down, (0, 0, -0.1, -0.1)),
        (Qt.Key.Key_Plus, (0.1, -0.1, 0.1, -0.1)),
        (Qt.Key.Key_Minus, (-0.125, 0.125, -0.125, 0.125)),
    ],
)
def test_every_key_moves_it_and_home_shows_all(hand, key, moved):
    left, right, low, high = whole = hand.ends()
    wide, tall = right - left, high - low
    hand.key(key)
    sizes = (wide, wide, tall, tall)
    wanted = [end + share * size for end, share, size in zip(whole, moved, sizes, strict=True)]
    assert hand.ends() == pytest.approx(wanted, abs=0.01 * max(wide, tall))
    hand.key(Qt.Key.Key_Home)
    assert hand.ends() == whole


def test_a_region_is_brushed_zoomed_to_and_dropped(hand):
    whole = hand.ends()
    hand.drag((0.1, 0.1), (0.9, 0.8), SHIFT)
    x, y = hand.hands.region
    assert (x.low - whole[0]) / (whole[1] - whole[0]) == pytest.approx(0.1, abs=0.02)
    assert (y.high - whole[2]) / (whole[3] - whole[2]) == pytest.approx(0.8, abs=0.02)
    assert hand.hands.words()
    assert hand.ends() == whole
    entry(hand, "Zoom to the region").trigger()
    assert hand.ends() == pytest.approx((x.low, x.high, y.low, y.high))
    hand.key(Qt.Key.Key_Home)
    hand.drag((0.1, 0.1), (0.9, 0.8), SHIFT)
    entry(hand, "Drop the region").trigger()
    assert hand.hands.region is None
    hand.drag((0.5, 0.5), (0.5, 0.5), SHIFT)
    assert hand.hands.region is None


def test_frozen_axes_stay_until_all_is_shown(hand):
    entry(hand, "Freeze the axes").trigger()
    frozen = hand.ends()
    hand.wheel(0.5, 0.5)
    hand.drag((0.5, 0.9), (0.2, 0.9))
    assert hand.ends() == frozen
    assert entry(hand, "Freeze the axes").isChecked()
    entry(hand, "Show all").trigger()
    assert not hand.hands.navigation.is_frozen


@pytest.mark.parametrize(("name", "kind"), [("CSV", "csv"), ("PNG", "png"), ("SVG", "svg")])
def test_picture_and_numbers_are_saved(hand, tmp_path, monkeypatch, qtbot, name, kind):
    path = tmp_path / f"plane.{kind}"
    monkeypatch.setattr("PySide6.QtWidgets.QFileDialog.getSaveFileName", lambda *_: (str(path), ""))
    (action,) = (a for a in hand.hands.menu.menu().actions() if f"as {name}…" in a.text())
    with qtbot.waitSignal(hand.hands.menu.said) as said:
        action.trigger()
    assert said.args == [f"Saved as {path}"]
    if kind == "svg":
        assert QSvgRenderer(str(path)).isValid()
    elif kind == "png":
        assert QImage(str(path)).size() == hand.chart.size() * 2
    else:
        assert len(list(csv.reader(io.StringIO(path.read_text())))) > 1


def test_picture_and_numbers_are_copied(hand, qtbot):
    board = QGuiApplication.clipboard()
    board.clear()
    entry(hand, "Copy the picture").trigger()
    assert board.image().size() == hand.chart.size() * 2
    with qtbot.waitSignal(hand.hands.menu.said):
        entry(hand, "Copy the numbers in sight").trigger()
    head, *rows = csv.reader(io.StringIO(board.text()))
    assert len(head) > 1
    assert rows
    assert all(len(row) == len(head) for row in rows)


def test_a_window_of_its_own_is_asked_for(hand, qtbot):
    with qtbot.waitSignal(hand.hands.menu.enlarged):
        entry(hand, "Enlarge").trigger()


ODD = [float("nan"), float("inf"), -float("inf"), 1e300, -1e300, 5e-324, 0.0]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("count", [0, 1, 7])
def test_odd_points_on_the_boundary_are_drawn_and_explored(shown, count):
    hands = explored(BoundaryPlot)
    shown(hands.widget, 560, 420)
    numbers = np.array(ODD[:count])
    points = PlanePoints(numbers, numbers[::-1], kinds=np.zeros(count, np.intp))
    hands.widget.show_points(points if count else NO_POINTS)
    grid = np.array([[np.nan, np.inf], [-np.inf, 3e38]], np.float32)
    hands.widget.show_ground(Ground((-1, -1, 1, 1), grid))
    hand = PlaneHand(hands)
    hand.wheel(0.4, 0.6, 3)
    hand.drag((0.5, 0.5), (0.2, 0.2))
    hand.drag((0.1, 0.1), (0.9, 0.9), SHIFT)
    hand.move(0.5, 0.5)
    hand.chart.grab()
    assert "".join(hands.table())
    assert all(np.isfinite(hand.ends()))
