"""A surface under the hand: every gesture and key, the menu and the table."""

import csv
import io

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtTest import QTest

from gradscribe.widgets.charts.plane import PlaneHands, enlarge_plane
from gradscribe.widgets.plots.views.loss_surface import LossSurface
from tests.widgets.charts.conftest import Hand

SHIFT = Qt.KeyboardModifier.ShiftModifier


class PlaneHand(Hand):
    """Sends real events to the view of a plane."""

    def __init__(self, hands):
        self.view = hands.view
        self.hands, self.chart, self.port = hands, hands.widget, hands.view.viewport()
        self.chart.grab()

    def at(self, x, y):
        frame = self.chart.drawn_axes.area
        return QPointF(frame.left() + x * frame.width(), frame.bottom() - y * frame.height())

    def key(self, key):
        QTest.keyClick(self.view, key)
        self.chart.grab()

    def ends(self):
        x, y = self.hands.navigation.axes()
        return x.low, x.high, y.low, y.high


def explored(kind=LossSurface):
    return PlaneHands(lambda make_canvas: kind(make_canvas=make_canvas))


@pytest.fixture
def grid():
    a = np.linspace(-2, 2, 21)
    return np.random.default_rng(3).normal(size=(21, 21)) + a**2 + a[:, None] ** 2


@pytest.fixture
def hand(shown, grid):
    hands = explored()
    shown(hands.widget, 560, 400)
    hands.widget.show_grid((-2.0, -2.0, 2.0, 2.0), grid, ("w", "b"))
    hands.widget.show_path(np.array([[-1.5, 1.0], [0.0, 0.5], [1.0, 0.0]]), [0, 40, 90])
    return PlaneHand(hands)


def test_the_wheel_zooms_both_axes_around_the_mouse(hand):
    hand.wheel(0.25, 0.75)
    assert hand.ends() == pytest.approx((-1.8, 1.4, -1.4, 1.8), abs=0.02)


@pytest.mark.parametrize("side", ["left", "bottom"])
def test_over_an_axis_the_wheel_zooms_that_axis(hand, side):
    frame = hand.chart.drawn_axes.area
    at = {
        "left": QPointF(frame.left() - 10, frame.center().y()),
        "bottom": QPointF(frame.center().x(), frame.bottom() + 10),
    }
    hand.wheel(0, 0, place=at[side])
    zoomed = pytest.approx((-1.6, 1.6), abs=0.02)
    x, y = hand.ends()[:2], hand.ends()[2:]
    assert (x, y) == ((zoomed, (-2, 2)) if side == "bottom" else ((-2, 2), zoomed))


def test_a_drag_pans_and_everything_comes_back(hand):
    hand.drag((0.5, 0.5), (0.25, 0.6))
    assert hand.ends() == pytest.approx((-1, 3, -2.4, 1.6), abs=0.05)
    assert hand.hands.follow.isVisible()
    hand.double_click(0.5, 0.5)
    assert hand.ends() == (-2, 2, -2, 2)
    assert not hand.hands.follow.isVisible()


@pytest.mark.parametrize(
    ("key", "seen"),
    [
        (Qt.Key.Key_Right, (-1.6, 2.4, -2, 2)),
        (Qt.Key.Key_Up, (-2, 2, -1.6, 2.4)),
        (Qt.Key.Key_Plus, (-1.6, 1.6, -1.6, 1.6)),
        (Qt.Key.Key_Minus, (-2.5, 2.5, -2.5, 2.5)),
    ],
)
def test_keys_move_it_and_home_shows_all(hand, key, seen):
    hand.key(key)
    assert hand.ends() == pytest.approx(seen, abs=0.02)
    hand.key(Qt.Key.Key_Home)
    assert hand.ends() == (-2, 2, -2, 2)


def test_what_grows_is_followed_until_a_hand_moves_it(hand, grid):
    hand.chart.show_grid((-4.0, -4.0, 4.0, 4.0), grid, ("w", "b"))
    assert hand.ends() == (-4, 4, -4, 4)
    hand.wheel(0.5, 0.5)
    before = hand.ends()
    hand.chart.show_grid((-8.0, -8.0, 8.0, 8.0), grid, ("w", "b"))
    assert hand.ends() == before
    hand.hands.follow.click()
    assert hand.ends() == (-8, 8, -8, 8)
    assert not hand.hands.follow.isVisible(), "before anything is painted"


def test_shift_and_drag_brush_a_region(hand, grid):
    hand.drag((0.26, 0.26), (0.74, 0.49), SHIFT)
    found = grid[6:10, 6:15]
    words = hand.hands.words()
    assert words[0] == f"{found.size} losses"
    mean, least = (float(word) for word in words[1].replace("−", "-").split()[1::2])
    assert (mean, least) == pytest.approx((found.mean(), found.min()), rel=0.01, abs=0.01)
    assert hand.view.accessibleDescription() == ". ".join(words)
    hand.key(Qt.Key.Key_Escape)
    assert hand.hands.region is None
    hand.drag((0.5, 0.5), (0.5, 0.5), SHIFT)
    assert hand.hands.region is None


def test_a_click_on_the_path_goes_to_its_step(hand, qtbot):
    with qtbot.waitSignal(hand.chart.step_picked) as sent:
        hand.click(0.5, 0.625)
    assert sent.args == [40]
    picked = []
    hand.chart.step_picked.connect(picked.append)
    hand.click(0.9, 0.1)
    assert picked == []


def test_the_loss_under_the_mouse_is_that_of_the_grid(hand, grid):
    assert hand.chart.loss_at(-2 + 0.2 * 7, -2 + 0.2 * 3) == pytest.approx(grid[3, 7])
    assert hand.chart.loss_at(-2 + 0.2 * 7.5, -2 + 0.2 * 3) == pytest.approx(grid[3, 7:9].mean())
    assert np.isnan(hand.chart.loss_at(3.0, 0.0))


def entry(hand, name):
    return next(a for a in hand.hands.menu.menu().actions() if a.text() == name)


def test_the_table_has_the_numbers_in_sight_to_the_bit(hand, grid):
    hand.wheel(0.5, 0.5, 3)
    entry(hand, "Copy the numbers in sight").trigger()
    head, *rows = csv.reader(io.StringIO(QGuiApplication.clipboard().text()))
    low, high, under, over = hand.ends()
    a = np.linspace(-2, 2, 21)
    wanted = [
        (x, y, grid[row, column])
        for row, y in enumerate(a)
        for column, x in enumerate(a)
        if low <= x <= high and under <= y <= over
    ]
    assert head == ["w", "b", "loss"]
    assert 0 < len(wanted) < grid.size
    assert [tuple(map(float, row)) for row in rows] == wanted


@pytest.mark.parametrize("kind", ["csv", "png", "svg"])
def test_it_is_saved(hand, tmp_path, monkeypatch, kind, qtbot):
    path = tmp_path / f"surface.{kind}"
    monkeypatch.setattr("PySide6.QtWidgets.QFileDialog.getSaveFileName", lambda *_: (str(path), ""))
    names = {
        "csv": "Save the numbers in sight as CSV…",
        "png": "Save the picture as PNG…",
        "svg": "Save the picture as SVG…",
    }
    with qtbot.waitSignal(hand.hands.menu.said) as said:
        entry(hand, names[kind]).trigger()
    assert said.args == [f"Saved as {path}"]
    if kind == "svg":
        assert QSvgRenderer(str(path)).isValid()
    elif kind == "png":
        assert not QImage(str(path)).isNull()
    else:
        assert path.read_text().startswith("w,b,loss\n")


def test_the_menu_copies_freezes_and_switches_colours(hand):
    QGuiApplication.clipboard().clear()
    entry(hand, "Copy the picture").trigger()
    assert not QGuiApplication.clipboard().image().isNull()
    before = hand.chart.canvas.grab().toImage()
    entry(hand, "Logarithmic colours").trigger()
    assert not entry(hand, "Logarithmic colours").isChecked()
    assert hand.chart.canvas.grab().toImage() != before
    entry(hand, "Freeze the axes").trigger()
    frozen = hand.ends()
    hand.wheel(0.5, 0.5)
    assert hand.ends() == frozen
    entry(hand, "Show all").trigger()
    assert not hand.hands.navigation.is_frozen


def test_the_large_window_stays_live(hand, grid, qtbot):
    larger = explored()
    window = enlarge_plane(hand.hands, larger, lambda: larger.widget.copy_from(hand.chart))
    qtbot.addWidget(window)
    window.show()
    hand.chart.show_grid((-4.0, -4.0, 4.0, 4.0), 2 * grid, ("p", "q"))
    assert window.chart.fitted(None)[0].high == 4
    assert window.chart.loss_at(-4.0, -4.0) == 2 * grid[0, 0]


@pytest.mark.parametrize(
    "grid",
    [
        np.zeros((0, 0)),
        np.ones((1, 1)),
        np.full((3, 3), 2.0),
        np.full((3, 3), np.nan),
        np.array([[np.inf, 1.0], [-np.inf, np.nan]]),
        np.array([[1e300, -1e300], [1e-320, 0.0]]),
        np.array([[1.7e308, -1.7e308], [0.0, 0.0]]),
    ],
)
@pytest.mark.filterwarnings("error")
def test_odd_losses_are_drawn_and_explored(hand, grid):
    hand.chart.show_grid((-1.0, -1.0, 1.0, 1.0), grid, ("w", "b"))
    hand.wheel(0.5, 0.5)
    hand.drag((0.3, 0.3), (0.8, 0.8), SHIFT)
    hand.move(0.5, 0.5)
    hand.chart.grab()
    rows = list(csv.reader(io.StringIO("".join(hand.hands.table()))))
    assert all(len(row) == 3 for row in rows)
