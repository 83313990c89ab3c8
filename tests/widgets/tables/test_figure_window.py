"""The large window of a figure: wheel, drags, keys, numbers under the mouse, tables."""

import csv
import io

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure as MplFigure
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from gradscribe.engine.plotting.contents import axes_of
from gradscribe.engine.protocol.figures import Figure
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.tables.figure_window import FigureWindow
from gradscribe.widgets.tables.figures import file_types, save_figure

NO_BUTTON, LEFT = Qt.MouseButton.NoButton, Qt.MouseButton.LeftButton
NO_KEYS = Qt.KeyboardModifier.NoModifier
X = np.linspace(0, 4, 9)


def make_figure(plot):
    figure, data = MplFigure(), io.BytesIO()
    plot(figure.add_subplot())
    with mpl.rc_context({"svg.fonttype": "path"}):
        figure.savefig(data, format="svg")
    return figure, Figure(data.getvalue(), "svg", 460.8, 345.6, "Loss", axes=axes_of(figure))


@pytest.fixture
def opened(shown):
    figure, sent = make_figure(lambda axes: axes.plot(X, X**2, label="square"))
    window = shown(
        FigureWindow(sent, Theme.load("light"), None, save_figure, file_types(sent)), 620, 480
    )
    window.mpl = figure
    return window


def pixel(window, x, y):
    """Return the pixel of numbers, by Matplotlib's own transformation."""
    figure = window.mpl
    at = figure.axes[0].transData.transform((x, y)) / figure.bbox.size
    area = window.canvas.area()
    return QPointF(area.left() + at[0] * area.width(), area.top() + (1 - at[1]) * area.height())


def wheel(canvas, at, notches):
    there = canvas.mapToGlobal(at)
    turned, phase = QPoint(0, 120 * notches), Qt.ScrollPhase.NoScrollPhase
    sent = QWheelEvent(at, there, QPoint(), turned, NO_BUTTON, NO_KEYS, phase, False)
    QApplication.sendEvent(canvas, sent)


def mouse(canvas, kind, at, button=NO_BUTTON, buttons=NO_BUTTON):
    there = canvas.mapToGlobal(at)
    QApplication.sendEvent(canvas, QMouseEvent(kind, at, there, button, buttons, NO_KEYS))


def near(one, other, pixels=0.01):
    return abs(one.x() - other.x()) < pixels and abs(one.y() - other.y()) < pixels


def test_the_wheel_zooms_around_the_mouse(opened):
    canvas = opened.canvas
    at, share = pixel(opened, 2, 4), canvas.share_at(pixel(opened, 2, 4))
    wheel(canvas, at, 3)
    assert canvas.zoom == pytest.approx(1.25**3)
    assert near(canvas.share_at(at), share, 1e-9)
    wheel(canvas, at, -50)
    assert canvas.zoom == 1
    assert near(canvas.seen().topLeft(), QPointF(0, 0), 1e-9)


def test_a_drag_pans_and_a_double_click_shows_all(opened):
    canvas = opened.canvas
    whole = canvas.area()
    wheel(canvas, QPointF(300, 200), 6)
    start, end = QPointF(300, 200), QPointF(260, 230)
    share = canvas.share_at(start)
    mouse(canvas, QEvent.Type.MouseButtonPress, start, LEFT, LEFT)
    mouse(canvas, QEvent.Type.MouseMove, end, NO_BUTTON, LEFT)
    mouse(canvas, QEvent.Type.MouseButtonRelease, end, LEFT)
    assert near(canvas.share_at(end), share, 1e-9)
    mouse(canvas, QEvent.Type.MouseButtonDblClick, end, LEFT, LEFT)
    assert canvas.area() == whole


def test_keys_zoom_pan_and_show_all(opened):
    canvas = opened.canvas
    whole = canvas.area()
    for _ in range(4):
        QTest.keyClick(canvas, Qt.Key.Key_Plus)
    assert canvas.zoom == pytest.approx(1.25**4)
    before = canvas.seen()
    QTest.keyClick(canvas, Qt.Key.Key_Right)
    QTest.keyClick(canvas, Qt.Key.Key_Up)
    assert canvas.seen().left() > before.left()
    assert canvas.seen().top() < before.top()
    QTest.keyClick(canvas, Qt.Key.Key_Minus)
    assert canvas.zoom == pytest.approx(1.25**3)
    QTest.keyClick(canvas, Qt.Key.Key_Home)
    assert canvas.area() == whole


@pytest.mark.parametrize("zoomed", [0, 5])
def test_the_point_under_the_mouse_is_read(opened, zoomed):
    canvas = opened.canvas
    wheel(canvas, pixel(opened, 2.5, 6.25), zoomed)
    mouse(canvas, QEvent.Type.MouseMove, pixel(opened, 2.5, 6.25) + QPointF(3, -2))
    assert opened.note.text() == "square: x = 2.5, y = 6.25"
    mouse(canvas, QEvent.Type.MouseMove, pixel(opened, 1, 12))
    assert opened.note.text() == "x = 1, y = 12"
    mouse(canvas, QEvent.Type.MouseMove, canvas.area().topLeft() + QPointF(3, 3))
    assert opened.note.text() == ""


def test_a_log_scale_and_an_inverted_axis_are_read(shown):
    def plot(axes):
        axes.semilogy([1, 2, 3], [1, 100, float("nan")])
        axes.invert_xaxis()

    figure, sent = make_figure(plot)
    window = shown(FigureWindow(sent, Theme.load("dark"), None, save_figure, ("png",)), 620, 480)
    window.mpl = figure
    mouse(window.canvas, QEvent.Type.MouseMove, pixel(window, 1.5, 50))
    assert window.note.text() == "x = 1.5, y = 50"
    mouse(window.canvas, QEvent.Type.MouseMove, pixel(window, 2, 100))
    assert window.note.text() == "x = 2, y = 100"


def test_the_table_has_the_points_in_sight_to_the_bit(opened):
    rows = list(csv.DictReader(io.StringIO(opened.table())))
    assert [float(row["x"]) for row in rows] == X.tolist()
    assert [float(row["y"]) for row in rows] == (X**2).tolist()
    assert {row["line"] for row in rows} == {"square"}
    wheel(opened.canvas, pixel(opened, 0, 0), 8)
    left = [float(row["x"]) for row in csv.DictReader(io.StringIO(opened.table()))]
    seen = opened.canvas.rect().toRectF()
    assert left == [x for x in X.tolist() if seen.contains(pixel(opened, x, x * x))]
    assert 0 < len(left) < len(X)


def act(window, name):
    menu = window.menu()
    (action,) = (action for action in menu.actions() if action.text() == name)
    assert action.isEnabled()
    action.trigger()


def test_the_menu_copies_and_saves(opened, tmp_path, monkeypatch):
    act(opened, "Copy the numbers in sight")
    assert QGuiApplication.clipboard().text() == opened.table()
    act(opened, "Copy the picture")
    assert QGuiApplication.clipboard().image() == opened.canvas.picture.image()
    for name, entry in (
        ("a.svg", "Save the picture…"),
        ("a.png", "Save the picture…"),
        ("a.csv", "Save the numbers in sight as CSV…"),
    ):
        path = str(tmp_path / name)
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, path=path: (path, ""))
        act(opened, entry)
        assert opened.note.text() == f"Saved as {path}"
    assert (tmp_path / "a.csv").read_text() == opened.table()
    assert (tmp_path / "a.svg").read_bytes() == opened.canvas.picture.figure.picture
    opened.save_table(str(tmp_path / "no" / "a.csv"))
    assert "cannot be written" in opened.note.text()


def test_a_zoomed_line_stays_sharp(opened):
    """A line of the axes is as wide as its zoom makes it, with no blurred neighbours."""
    canvas = opened.canvas
    figure = opened.mpl
    for _ in range(12):
        wheel(canvas, pixel(opened, 2, figure.axes[0].get_ylim()[0]), 1)
    image = canvas.grab().toImage()
    at = pixel(opened, 2.1, figure.axes[0].get_ylim()[0])
    rows = range(int(at.y()) - 30, int(at.y()) + 30)
    column = [image.pixelColor(int(at.x()), y).lightness() for y in rows]
    between = [light for light in column if 20 < light < 235]
    assert min(column) < 20
    assert len(between) <= 2


def test_a_figure_without_numbers_offers_no_table(shown):
    _, sent = make_figure(lambda axes: axes.imshow([[1, 2]]))
    window = shown(FigureWindow(sent, Theme.load("light"), None, save_figure, ("png",)), 620, 480)
    actions = {action.text(): action.isEnabled() for action in window.menu().actions()}
    assert not actions["Copy the numbers in sight"]
    assert actions["Copy the picture"]
