"""Entries of a chart's menu, its pictures, tables and refusals."""

import csv
import re

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QRectF
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu

from gradscribe.widgets.charts import menu as menus
from gradscribe.widgets.plots.views.curve_plot import PlotCurve
from tests.widgets.charts.conftest import series


def actions(chart):
    return {a.text(): a for a in chart.menu.menu().actions() if a.text()}


def choose(chart, name):
    actions(chart)[name].trigger()
    chart.grab()


@pytest.fixture
def said(chart):
    found = []
    chart.menu.said.connect(found.append)
    return found


@pytest.fixture
def saved(chart, monkeypatch, tmp_path, qtbot):
    """Return a function that saves by an entry of the menu and returns the file's bytes."""

    def save(name, file="chosen"):
        path = tmp_path / file
        answer = staticmethod(lambda *_: (str(path), ""))
        monkeypatch.setattr(QFileDialog, "getSaveFileName", answer)
        choose(chart, name)
        qtbot.waitUntil(lambda: not chart.menu.writing.busy)
        return next(tmp_path.iterdir())

    return save


def test_it_offers_everything(chart):
    assert list(actions(chart)) == [
        "Show all",
        "Enlarge",
        "Show the numbers",
        "Freeze the axes",
        "Logarithmic axis",
        "Copy the picture",
        "Save the picture as PNG…",
        "Save the picture as SVG…",
        "Copy the numbers in sight",
        "Save the numbers in sight as CSV…",
    ]
    chart.brush(100, 200)
    offered = list(actions(chart))
    assert offered[5:8] == [
        "Zoom to the stretch",
        "Train again from step 100",
        "Drop the stretch",
    ]


@pytest.fixture
def opened(monkeypatch):
    """Record the menus that open and where; without a screen a real one cannot take the keys."""
    found = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, at: found.append((menu, at)))
    return found


@pytest.mark.parametrize("reason", ["Mouse", "Keyboard"])
def test_it_opens_where_it_is_asked_for_and_goes_when_it_is_closed(chart, hand, opened, reason):
    at = hand.at(0.5, 0.5).toPoint()
    place = hand.port.mapToGlobal(at)
    event = QContextMenuEvent(QContextMenuEvent.Reason[reason], at, place)
    QApplication.sendEvent(hand.port, event)
    ((menu, where),) = opened
    # Qt has no place in a chart for a key: it would be at the left border.
    middle = chart.view.mapToGlobal(chart.view.rect().center())
    assert where == (middle if reason == "Keyboard" else place)
    assert "Show all" in [action.text() for action in menu.actions()]
    opened.clear()
    menu.close()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert not chart.view.findChildren(QMenu)


def test_show_all(chart, hand):
    hand.wheel(0.3, 0.3, 4)
    assert not chart.is_following
    choose(chart, "Show all")
    assert chart.is_following


def test_the_axes_are_frozen_and_freed(chart, hand):
    choose(chart, "Freeze the axes")
    assert actions(chart)["Freeze the axes"].isChecked()
    before = chart.navigation.axes()
    hand.wheel(0.3, 0.3, 4)
    assert chart.navigation.axes() == before
    choose(chart, "Freeze the axes")
    assert not actions(chart)["Freeze the axes"].isChecked()
    assert chart.is_following


def test_the_axis_is_logarithmic_or_linear(chart):
    told = []
    chart.log_changed.connect(told.append)
    for log in (True, False):
        choose(chart, "Logarithmic axis")
        assert actions(chart)["Logarithmic axis"].isChecked() is log
        assert chart.navigation.axes()[1].log is log
    assert told == [True, False]


def test_the_stretch_is_zoomed_to_trained_from_and_dropped(chart):
    chart.brush(99.5, 300)
    asked = []
    chart.retrained.connect(asked.append)
    choose(chart, "Train again from step 100")
    assert asked == [100]
    choose(chart, "Zoom to the stretch")
    assert chart.steps == (99.5, 300)
    choose(chart, "Drop the stretch")
    assert chart.stretch is None
    assert not [name for name in actions(chart) if "stretch" in name or "Train" in name]


def test_enlarge_asks_for_a_window(chart, qtbot):
    with qtbot.waitSignal(chart.menu.enlarged):
        choose(chart, "Enlarge")
    chart.menu.enlarges = False
    assert "Enlarge" not in actions(chart)


def has_curve(image, chart):
    """Return whether pixels of the curve's own colour are in the picture."""
    ink = chart.curves[0].color.rgb()
    rows = range(0, image.height(), 2)
    return any(image.pixel(x, y) == ink for x in range(image.width()) for y in rows)


def test_the_picture_is_copied(chart, said):
    chart.zoom(400, 600)  # With the button to follow, which is no part of a picture.
    chart.grab()
    choose(chart, "Copy the picture")
    image = QGuiApplication.clipboard().image()
    assert image.size() == chart.size() * menus.SCALE
    assert has_curve(image, chart)
    assert chart.follow.isVisible()
    assert said == ["The picture is on the clipboard"]


def test_the_picture_is_saved_as_png(chart, saved, said):
    path = saved("Save the picture as PNG…")
    assert path.name == "chosen.png"
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    image = QImage(str(path))
    assert image.size() == chart.size() * menus.SCALE
    assert has_curve(image, chart)
    assert said == [f"Saved as {path}"]


def test_the_picture_is_saved_as_svg(chart, saved):
    chart.position = 500.0
    chart.grab()
    path = saved("Save the picture as SVG…")
    assert path.name == "chosen.svg"
    drawn = QSvgRenderer(str(path))
    assert drawn.isValid()
    size = re.search(r'width="([\d.]+)mm" height="([\d.]+)mm"', path.read_text()).groups()
    view = chart.view.size()
    assert [float(mm) / 25.4 * 96 for mm in size] == pytest.approx(view.toTuple(), abs=0.1)
    image = QImage(drawn.defaultSize(), QImage.Format.Format_RGB32)
    with QPainter(image) as painter:
        drawn.render(painter, QRectF(image.rect()))
    assert has_curve(image, chart)
    text = path.read_text()
    assert chart.theme.selection.name() in text  # the line of the step
    assert "Loss" in text


def rows(text):
    return list(csv.reader(text.splitlines()))


def test_the_numbers_in_sight_are_saved_as_they_were_recorded(chart, saved):
    rng = np.random.default_rng(1)
    exact = (rng.standard_normal(1001) * 10.0 ** rng.integers(-44, 38, 1001)).astype(np.float32)
    exact[500:503] = np.nan, np.inf, -np.inf
    sparse = series([1.5, 2.5], first=550)
    curves = [
        PlotCurve('a,b "c"', series(exact), chart.theme.forward),
        PlotCurve("sparse", sparse, chart.theme.data),
    ]
    chart.set_curves(curves)
    chart.zoom(490, 560)
    chart.grab()
    path = saved("Save the numbers in sight as CSV…")
    assert path.name == "chosen.csv"
    head, *body = rows(path.read_text())
    assert head == ["step", 'a,b "c"', "sparse"]
    assert [float(row[0]) for row in body] == list(range(490, 561))
    again = np.array([row[1] for row in body], np.float32)
    assert again.view(np.uint32).tolist() == exact[490:561].view(np.uint32).tolist()
    assert [row[2] for row in body if row[2]] == ["1.5", "2.5"]


def test_the_numbers_in_sight_are_copied(chart, said, qtbot):
    chart.zoom(10, 20)
    chart.grab()
    choose(chart, "Copy the numbers in sight")
    qtbot.waitUntil(lambda: bool(said))
    head, *body = rows(QGuiApplication.clipboard().text())
    assert head == ["step", "batch"]
    found = np.array([row[1] for row in body], np.float32)
    assert found.tolist() == chart.curves[0].series.numbers(10, 21).tolist()
    assert said == ["The numbers in sight are on the clipboard"]


def test_too_many_numbers_for_the_clipboard_are_said_and_it_stays(chart, said, qtbot, monkeypatch):
    QGuiApplication.clipboard().setText("before")
    monkeypatch.setattr(menus, "MOST_COPIED", 100)
    choose(chart, "Copy the numbers in sight")
    qtbot.waitUntil(lambda: bool(said))
    assert "Too many numbers" in said[0]
    assert QGuiApplication.clipboard().text() == "before"


@pytest.mark.parametrize("kind", ["PNG", "SVG", "CSV"])
def test_a_place_that_cannot_be_written_is_said(chart, said, monkeypatch, tmp_path, qtbot, kind):
    path = tmp_path / "missing" / "chart"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", staticmethod(lambda *_: (str(path), "")))
    (name,) = (name for name in actions(chart) if kind in name)
    choose(chart, name)
    qtbot.waitUntil(lambda: bool(said))
    assert "cannot be written" in said[0]
    assert not list(tmp_path.iterdir())


def test_a_failed_table_leaves_the_earlier_file(chart, said, tmp_path, qtbot):
    path = tmp_path / "t.csv"
    path.write_text("before")

    def parts():
        yield "half"
        raise OSError("The disk is full")

    chart.menu.writing.run(chart.menu._write(path, parts()))
    qtbot.waitUntil(lambda: bool(said))
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_not_chosen_writes_nothing(chart, said, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getSaveFileName", staticmethod(lambda *_: ("", "")))
    for name in [name for name in actions(chart) if name.startswith("Save")]:
        choose(chart, name)
    assert said == []
    assert not chart.menu.writing.busy


def test_an_empty_chart_has_pictures_and_an_empty_table(chart, saved):
    chart.set_curves([])
    chart.grab()
    assert saved("Save the numbers in sight as CSV…").read_text() == "step\n"
    choose(chart, "Copy the picture")
    assert not QGuiApplication.clipboard().image().isNull()
