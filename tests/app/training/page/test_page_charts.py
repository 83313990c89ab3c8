"""The four charts of the training page under the hand, wired to the run."""

import csv

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from gradscribe.engine.protocol import training as messages
from gradscribe.playback.text import formatting
from gradscribe.widgets.charts.enlarged import ChartWindow
from gradscribe.widgets.charts.view import NAVIGATION_KEYS
from tests.app.training.fakes import dress
from tests.widgets.charts.conftest import Hand

SHIFT = Qt.KeyboardModifier.ShiftModifier
CHARTS = ("loss", "flow", "ratios", "rate")
STEPS = 400


@pytest.fixture
def grown(room, train_link):
    """The page with a paused run of 400 steps."""
    room.numbers.setCurrentWidget(room.over_time)
    train_link.grow(1, 0, STEPS)
    train_link.state(1, STEPS - 1)
    return room


@pytest.fixture(params=CHARTS)
def chart(request, grown):
    """Each of the four charts, in sight."""
    found = getattr(grown, request.param)
    if found is not grown.loss:
        grown.over_time.buttons.button(CHARTS.index(request.param) - 1).click()
    found.refresh()
    found.grab()
    assert found.isVisible()
    return found


@pytest.fixture
def hand(chart):
    return Hand(chart)


def ends(chart):
    x, y = chart.navigation.axes()
    return x.low, x.high, y.low, y.high


def actions(chart):
    return {a.text(): a for a in chart.menu.menu().actions() if a.text()}


def test_the_wheel_zooms_both_axes(chart, hand):
    before = ends(chart)
    hand.wheel(0.5, 0.5)
    after = ends(chart)
    assert after[1] - after[0] == pytest.approx(0.8 * (before[1] - before[0]))
    assert chart.navigation.y is not None
    assert after[3] / after[2] < before[3] / before[2]


def test_over_an_axis_the_wheel_zooms_that_axis(chart, hand):
    frame = chart._drawn.area
    hand.wheel(0, 0, place=QPointF(frame.left() - 12, frame.center().y()))
    assert chart.navigation.x is None
    assert chart.navigation.y is not None
    hand.key(Qt.Key.Key_Home)
    frame = chart._drawn.area
    hand.wheel(0, 0, place=QPointF(frame.center().x(), frame.bottom() + 10))
    assert chart.navigation.x is not None
    assert chart.navigation.y is None


def test_a_drag_pans_and_no_step_is_picked(chart, hand, train_link):
    chart.zoom(100, 200)
    chart.grab()
    asked = len(train_link.sent)
    hand.drag((0.5, 0.5), (0.25, 0.5))
    assert ends(chart)[:2] == pytest.approx((125, 225), abs=2)
    assert len(train_link.sent) == asked


@pytest.mark.parametrize("way", ["double click", "home", "follow"])
def test_all_is_shown_again(chart, hand, way):
    before = ends(chart)
    hand.wheel(0.3, 0.7, 3)
    if way == "double click":
        hand.double_click(0.5, 0.5)
    elif way == "home":
        hand.key(Qt.Key.Key_Home)
    else:
        QTest.mouseClick(chart.follow, Qt.MouseButton.LeftButton)
    assert ends(chart) == before
    assert not chart.follow.isVisible()


def test_the_keyboard_moves_it(chart, hand):
    chart.zoom(100, 200)
    chart.grab()
    hand.key(Qt.Key.Key_Right)
    assert ends(chart)[:2] == pytest.approx((110, 210))
    hand.key(Qt.Key.Key_Plus)
    assert ends(chart)[:2] == pytest.approx((120, 200))
    hand.key(Qt.Key.Key_Minus)
    hand.key(Qt.Key.Key_Left)
    assert ends(chart)[:2] == pytest.approx((100, 200))
    low = ends(chart)[2]
    hand.key(Qt.Key.Key_Up)
    assert ends(chart)[2] > low


def test_every_curve_is_read_under_the_mouse(chart, hand, monkeypatch):
    words = []
    monkeypatch.setattr(
        "gradscribe.widgets.plots.views.curve_plot.draw_bubble",
        lambda _painter, _frame, _at, lines, *_: words.append(lines),
    )
    hand.move(0.5, 0.5)
    chart.grab()
    step = words[-1][0]
    assert step.startswith("Step ")
    at = int(step.split()[1])
    expected = {
        f"{curve.name}  {formatting.number(curve.series.nearest(at)[1])}" for curve in chart.curves
    }
    assert set(words[-1][1:]) == expected


def test_a_stretch_is_brushed_measured_and_trained_from(chart, hand, begun, train_link):
    hand.drag((0.25, 0.5), (0.75, 0.5), SHIFT)
    low, high = chart.stretch
    curve = chart.curves[-1]
    steps = curve.series.steps(0, len(curve.series))
    inside = curve.series.numbers()[(steps >= low) & (steps <= high)].astype(np.float64)
    inside = inside[np.isfinite(inside)]
    one = chart.measured()[0]
    quarter = len(inside) // 4
    assert (one.mean, one.least) == (pytest.approx(inside.mean()), inside.min())
    assert one.factor == pytest.approx(inside[-quarter:].mean() / inside[:quarter].mean())
    assert len(chart.measured()) == len(chart.curves)
    QTest.mouseClick(chart.again, Qt.MouseButton.LeftButton)
    assert train_link.last(messages.Rewind).step == chart.first_step == int(np.ceil(low))
    assert begun.controller.plays
    hand.key(Qt.Key.Key_Escape)
    assert chart.stretch is None


def test_a_brush_of_no_width_selects_nothing(chart, hand):
    hand.drag((0.5, 0.2), (0.5, 0.8), SHIFT)
    assert chart.stretch is None
    assert not chart.again.isVisible()


def test_dragging_the_line_of_the_step_moves_the_page(chart, hand, train_link):
    train_link.state(1, 200)
    chart.grab()
    assert chart.position == 200
    hand.drag((200 / (STEPS - 1), 0.5), (0.25, 0.5), steps=20)
    # Going back takes the engine a moment: it is asked once.
    (asked,) = [sent for sent in train_link.sent if isinstance(sent, messages.Rewind)]
    to = asked.step
    assert to == pytest.approx(100, abs=3)
    train_link.state(1, to)
    assert chart.position == to


def test_the_step_of_the_page_is_marked_in_all_four(grown, train_link):
    train_link.state(1, 123)
    assert [getattr(grown, name).position for name in CHARTS] == [123.0] * 4


def test_all_four_show_the_same_steps(chart, hand, grown):
    hand.wheel(0.5, 0.5, 3)
    seen = {getattr(grown, name).steps for name in CHARTS}
    assert len(seen) == 1
    assert seen != {None}
    hand.double_click(0.5, 0.5)
    assert {getattr(grown, name).steps for name in CHARTS} == {None}


def test_a_growing_run_is_followed_until_a_hand_moves_the_view(chart, hand, train_link, qtbot):
    train_link.grow(1, STEPS, STEPS + 50)
    qtbot.waitUntil(lambda: chart._drawn.x.high >= STEPS + 40 or chart.grab() is None)
    assert chart.is_following
    hand.wheel(0.5, 0.5)
    before = ends(chart)
    train_link.grow(1, STEPS + 50, STEPS + 100)
    chart.refresh()
    assert ends(chart) == before
    assert chart.follow.isVisible()
    chart.follow.click()
    assert ends(chart)[1] >= STEPS + 90


def test_the_axis_is_switched_and_frozen_by_the_menu(chart, hand):
    was = chart.log
    actions(chart)["Logarithmic axis"].trigger()
    assert chart.log is not was
    actions(chart)["Logarithmic axis"].trigger()
    actions(chart)["Freeze the axes"].trigger()
    before = ends(chart)
    hand.wheel(0.5, 0.5, 3)
    hand.key(Qt.Key.Key_Right)
    assert ends(chart) == before
    actions(chart)["Freeze the axes"].trigger()
    assert chart.is_following


def test_the_button_of_the_loss_follows_the_menu(grown):
    for log in (False, True):
        actions(grown.loss)["Logarithmic axis"].trigger()
        assert grown.log.isChecked() is log


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_enlarged_stays_live_and_has_the_theme(chart, grown, train_link, qtbot, theme):
    from gradscribe.widgets.base.theme import Theme

    actions(chart)["Enlarge"].trigger()
    (window,) = grown.window().findChildren(ChartWindow)
    assert window.isVisible()
    dress(grown, Theme.load(theme))
    assert window.chart.theme.name == theme
    train_link.grow(1, STEPS, STEPS + 100)
    qtbot.waitUntil(lambda: window.chart.navigation.axes()[0].high >= STEPS + 90)
    train_link.state(1, 77)
    assert window.chart.position == 77
    grown.presenter.set_visible(False)
    train_link.grow(1, STEPS + 100, STEPS + 200)
    qtbot.waitUntil(lambda: window.chart.navigation.axes()[0].high >= STEPS + 190)
    Hand(window.chart).click(0.5, 0.5)
    assert train_link.last(messages.Rewind) or train_link.last(messages.Advance)
    grown.window().close()
    assert not window.isVisible()


def test_pictures_and_tables_are_taken_out_by_the_menu(
    chart, hand, monkeypatch, tmp_path, qtbot, begun
):
    said = []
    begun.said.connect(said.append)
    hand.wheel(0.5, 0.5, 2)
    actions(chart)["Copy the picture"].trigger()
    assert QGuiApplication.clipboard().image().size() == 2 * chart.size()
    paths = {}
    for name, action in actions(chart).items():
        if name.startswith("Save"):
            kind = next(kind for kind in ("PNG", "SVG", "CSV") if kind in name)
            paths[kind] = tmp_path / f"chart.{kind.lower()}"
            answer = staticmethod(lambda *_, path=paths[kind]: (str(path), ""))
            monkeypatch.setattr(QFileDialog, "getSaveFileName", answer)
            action.trigger()
            qtbot.waitUntil(lambda: not chart.menu.writing.busy)
    assert QImage(str(paths["PNG"])).size() == 2 * chart.size()
    assert QSvgRenderer(str(paths["SVG"])).isValid()
    head, *rows = csv.reader(paths["CSV"].read_text().splitlines())
    low, high = chart.steps
    assert head == ["step", *(curve.name for curve in chart.curves)]
    for place, curve in enumerate(chart.curves, 1):
        steps, stored = curve.series.steps(0, len(curve.series)), curve.series.numbers()
        seen = (steps >= low) & (steps <= high)
        written = {float(row[0]): np.float32(row[place]) for row in rows if row[place]}
        assert list(written) == steps[seen].tolist()
        found = np.array(list(written.values()), np.float32)
        assert (found.view(np.uint32) == stored[seen].view(np.uint32)).all()
    actions(chart)["Copy the numbers in sight"].trigger()
    qtbot.waitUntil(lambda: not chart.menu.writing.busy)
    assert QGuiApplication.clipboard().text() == paths["CSV"].read_text()
    assert [*map(str, paths.values())] == [
        w.removeprefix("Saved as ") for w in said if "Saved" in w
    ]


@pytest.fixture
def training(window, qtbot):
    """The real window, on its training page, with a paused run."""
    window.resize(1440, 900)
    window.show()
    window.workspaces.show_workspace("training")
    qtbot.waitUntil(lambda: window.workspaces.is_whole, timeout=30_000)
    window.train_link.greet()
    window.train_link.begin(1, window.workspaces.session.setup)
    window.train_link.grow(1, 0, STEPS)
    window.train_link.state(1, 200)
    window.activateWindow()
    return window


def test_tab_reaches_the_chart_and_a_frame_shows_it(training):
    loss = training.workspaces.widgets.loss
    training.workspaces.widgets.smooth.setFocus()
    reached = []
    for _ in range(400):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        reached.append(QApplication.focusWidget())
        if reached[-1] is loss.view:
            break
    assert reached[-1] is loss.view
    assert loss.view._has_focus_frame


def test_shortcuts_of_the_window_leave_the_chart_its_keys(training):
    loss, link = training.workspaces.widgets.loss, training.train_link
    loss.view.setFocus(Qt.FocusReason.TabFocusReason)
    loss.zoom(100, 200)
    loss.grab()
    sent, plays = len(link.sent), training.workspaces.session.controller.plays
    for key in NAVIGATION_KEYS:
        before = ends(loss)
        QTest.keyClick(loss.view, key)
        assert ends(loss) != before, key
        if key == Qt.Key.Key_Home:
            loss.zoom(100, 200)
    assert len(link.sent) == sent
    assert training.workspaces.session.controller.plays is plays
    # Without the chart the same keys move the run.
    loss.view.clearFocus()
    QTest.keyClick(training, Qt.Key.Key_Left)
    assert link.last(messages.Rewind).step == 199
