"""The spread over time on the training page: what came is drawn, linked, read and taken away."""

import csv
import dataclasses
import io

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPainter

from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.training import ViewReply
from gradscribe.engine.protocol.training.replies import QUANTILES
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.charts.enlarged import enlarge_curves
from gradscribe.widgets.charts.spread import NAMED
from tests.app.training.fakes import array
from tests.widgets.charts.conftest import Hand


def reply(run, step):
    """Return the spread of normal numbers whose deviation grows with the step."""
    rows = 2 * len(run.begun.parameters) + len(run.begun.units)
    rng = np.random.default_rng(step)
    numbers = rng.normal(size=(rows, 400)) * (1 + step / 100)
    quantiles = np.quantile(numbers, QUANTILES, axis=1).T
    counts = np.tile([400, 3, 1], (rows, 1))
    arrays = {"quantiles": array(quantiles, "<f8"), "counts": array(counts, "<i8")}
    return quantiles, ViewReply(run.run_id, "spread", step, arrays)


@pytest.fixture
def grown(room, begun, train_link):
    """Train 200 steps of which each tenth had its spread sent."""
    sent = {}
    for step in range(0, 201, 10):
        if step:
            train_link.grow(1, step - 9, step + 1)
        train_link.state(1, step)
        sent[step], message = reply(begun.run, step)
        train_link.received.emit(message)
    room.over_time.buttons.button(3).click()
    room.loss.refresh()
    return sent


def shown_spread(room, qtbot):
    """Return the chart with its tab open, and a hand over it."""
    chart = room.spread.chart
    room.numbers.setCurrentWidget(room.over_time)
    qtbot.waitUntil(lambda: chart.view.width() > 100)
    return chart, Hand(chart)


def test_the_steps_before_going_back_stay_pale(room, begun, grown, train_link):
    train_link.grow(1, 101, 101, after=100)
    train_link.state(1, 100)
    curves = {curve.name: curve for curve in room.spread.chart.curves}
    for name, share in (("5 %", 0.05), ("median", 0.5), ("95 %", 0.95)):
        now, before = curves[name], curves[f"{name} before going back"]
        column = QUANTILES.index(share)
        steps = [step for step in sorted(grown) if step >= 100]
        want = np.array([grown[step][0, column] for step in steps], np.float32)
        assert now.series.last == before.series.first == 100
        assert before.series.numbers().tolist() == want.tolist()
        assert before.color.alphaF() < 0.5 < now.color.alphaF()
    begun.controller.fork()
    train_link.begin(begun.run.run_id, begun.setup, parent=1, parent_step=100)
    assert not any("before" in curve.name for curve in room.spread.chart.curves)


READ = [QUANTILES.index(share) for share in (0, 0.05, 0.25, 0.5, 0.75, 0.95, 1)]


def numbers(room):
    return [curve.series.numbers().tolist() for curve in room.spread.chart.curves]


def test_the_chosen_tensor_is_drawn_since_step_0(room, begun, grown):
    parameters = len(begun.run.begun.parameters)
    want = np.array([grown[step][0] for step in sorted(grown)], np.float32)[:, READ].T
    assert numbers(room) == want.tolist()
    assert [curve.name for curve in room.spread.chart.curves] == list(NAMED)
    room.spread.kind.setCurrentIndex(1)
    room.spread.layer.setCurrentIndex(1)
    want = np.array([grown[step][parameters + 1] for step in sorted(grown)], np.float32)[:, READ].T
    assert numbers(room) == want.tolist()
    assert "3 NaN" in room.spread.chart.caption.said()
    assert "1 infinite" in room.spread.chart.caption.said()


@pytest.mark.parametrize("name", ["dark", "light"])
def test_the_color_is_the_stronger_the_more_numbers_there_are(room, grown, qtbot, name):
    chart = room.spread.chart
    chart.set_theme(Theme.load(name))
    room.numbers.setCurrentWidget(room.over_time)
    qtbot.waitUntil(lambda: chart.view.width() > 100)
    chart.set_curves([dataclasses.replace(c, is_drawn=c.name == "least") for c in chart.curves])
    panel, area = chart.theme.panel, chart.view.rect()
    shown = QImage(area.size(), QImage.Format.Format_RGB32)
    shown.fill(panel)
    painter = QPainter(shown)
    chart.draw_still(painter, area.toRectF())
    painter.end()
    frame, axis = chart._drawn.area, chart._drawn.y

    def strength(step, number):
        x = round(frame.left() + chart._drawn.x.number_share(step) * frame.width())
        y = round(frame.bottom() - axis.number_share(number) * frame.height())
        color = shown.pixelColor(x, y)
        pairs = zip(color.getRgb()[:3], panel.getRgb()[:3], strict=True)
        return sum(abs(a - b) for a, b in pairs)

    def mean_strength(step, low, high):
        return np.mean([strength(step + d, n) for d in (0, 10) for n in np.linspace(low, high, 9)])

    # Deviation 1 at step 0, and 3 at step 200; grid lines are paler than any of these.
    early, late = mean_strength(5, 0.2, 1), mean_strength(180, 0.2, 1)
    late_tail, early_tail = mean_strength(180, 4, 5.5), mean_strength(5, 4.2, 4.8)
    assert early > late > late_tail > early_tail + 8
    assert late > 40


def test_a_brush_measures_the_quantiles_and_offers_to_train_again(room, begun, grown, qtbot):
    chart, hand = shown_spread(room, qtbot)
    asked = []
    chart.retrained.connect(asked.append)
    hand.drag((0.25, 0.5), (0.75, 0.5), Qt.KeyboardModifier.ShiftModifier)
    low, high = chart.stretch
    assert low == pytest.approx(50, abs=3)
    assert high == pytest.approx(150, abs=3)
    inside = [step for step in sorted(grown) if low <= step <= high]
    median = np.array([grown[step][0][QUANTILES.index(0.5)] for step in inside], np.float32)
    measured = {one.name: one for one in chart.measured()}
    assert set(measured) == set(NAMED)
    assert measured["median"].mean == pytest.approx(float(median.astype(np.float64).mean()))
    chart.again.click()
    assert asked == [chart.first_step]
    hand.key(Qt.Key.Key_Escape)
    assert chart.stretch is None


def test_wheel_drag_keys_and_double_click_move_it_and_the_density_with_it(room, grown, qtbot):
    chart, hand = shown_spread(room, qtbot)
    whole = chart.view.grab().toImage()
    hand.wheel(0.5, 0.5, notches=3)
    x, y = chart.navigation.axes()
    assert x.high - x.low < 200
    assert not chart.follow.isHidden()
    hand.drag((0.5, 0.5), (0.4, 0.5))
    assert chart.navigation.axes()[0].low > x.low
    hand.key(Qt.Key.Key_Left)
    hand.key(Qt.Key.Key_Up)
    assert chart.navigation.axes()[1].low > y.low
    assert chart.view.grab().toImage() != whole
    hand.double_click(0.5, 0.5)
    assert chart.is_following
    assert room.loss.steps is None


def test_the_readout_has_every_quantile(room, grown, qtbot):
    chart, hand = shown_spread(room, qtbot)
    before = chart.view.grab().toImage()
    hand.move(0.5, 0.5)
    assert chart.mouse is not None
    assert chart.view.grab().toImage() != before
    assert len(chart.curves) == len(NAMED)


def test_the_menu_saves_picture_and_numbers_and_enlarges_with_the_density(
    room, grown, qtbot, tmp_path
):
    chart, _ = shown_spread(room, qtbot)
    names = [action.text() for action in chart.menu.menu().actions()]
    assert {"Freeze the axes", "Save the picture as SVG…", "Enlarge"} <= set(names)
    chart.menu.save(tmp_path / "spread.svg", "svg")
    qtbot.waitUntil((tmp_path / "spread.svg").exists)
    assert b"<image" in (tmp_path / "spread.svg").read_bytes(), "the density"
    large = enlarge_curves(chart)
    qtbot.addWidget(large)
    large.show()
    shown = large.chart.view.grab().toImage()
    large.chart.backdrop = None
    large.chart.refresh()
    assert large.chart.view.grab().toImage() != shown


def test_it_shows_the_steps_of_the_loss(room, grown):
    room.loss.zoom(50, 120)
    assert room.spread.chart.steps == (50, 120)
    room.spread.chart.fit()
    assert room.loss.steps is None


def test_a_rewind_truncates_and_a_fork_shares_the_past(room, begun, train_link, grown):
    run = begun.run
    train_link.grow(1, 0, 0, after=100)
    train_link.state(1, 100)
    late = reply(run, 200)[1]
    train_link.received.emit(late)
    assert run.spread.rows(0)[0].tolist() == list(range(0, 101, 10))
    room.presenter.curves.list()
    assert len(numbers(room)[0]) == 11
    fork = run.spread.upto(50)
    assert fork.rows(0)[0].tolist() == list(range(0, 51, 10))


def test_the_table_has_the_stored_numbers(room, begun, grown):
    rows = list(csv.reader(io.StringIO("".join(room.spread.chart.table()))))
    assert rows[0][0] == "step"
    assert set(rows[0][1:]) == set(NAMED)
    order = [rows[0].index(name) for name in NAMED]
    _, stored = begun.run.spread.rows(0)
    found = np.array([[row[at] for at in order] for row in rows[1:]], np.float32)
    assert found.tobytes() == stored[:, READ].tobytes()


def test_a_sample_is_said_in_the_chart(room, begun, grown):
    first, *others = begun.run.begun.parameters
    large = replace(first, shape=(3000, 3000))
    many = replace(begun.run.begun, parameters=(large, *others))
    assert "sample" not in room.spread.chart.caption.said()
    _, message = reply(begun.run, 210)
    counts = np.tile([9_000_000, 0, 0], (len(message.arrays["counts"].array()), 1))
    arrays = {**message.arrays, "counts": array(counts, "<i8")}
    begun.run.spread.add(replace(message, arrays=arrays))
    room.spread.show_run(many, begun.run.spread)
    assert "9,000,000 numbers" in room.spread.chart.caption.said()
    assert "of a sample of 65,536" in room.spread.chart.caption.said()


def test_another_run_begins_empty(room, begun, train_link, grown):
    train_link.begin(1, replace(begun.setup, seed=9))
    assert len(begun.run.spread) == 0


def test_long_names_and_both_themes(room, grown):
    for name in ("dark", "light"):
        room.spread.chart.set_theme(Theme.load(name))
        assert not room.spread.chart.grab().isNull()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("number", [np.nan, 0.0, 3e38, 1e-45])
def test_odd_numbers_everywhere(room, begun, grown, qtbot, number):
    chart, hand = shown_spread(room, qtbot)
    rows = 2 * len(begun.run.begun.parameters) + len(begun.run.begun.units)
    quantiles = np.full((rows, len(QUANTILES)), number)
    counts = np.tile([4, 4 if np.isnan(number) else 0, 0], (rows, 1))
    begun.run.spread.cut(0)
    for step in range(210, 260, 10):
        arrays = {"quantiles": array(quantiles, "<f8"), "counts": array(counts, "<i8")}
        begun.run.spread.add(ViewReply(begun.run.run_id, "spread", step, arrays))
    room.spread.show_run(begun.run.begun, begun.run.spread)
    for log in (True, False):
        chart.set_log(log)
        hand.wheel(0.5, 0.5, notches=5)
        hand.drag((0.2, 0.5), (0.8, 0.5), Qt.KeyboardModifier.ShiftModifier)
        assert not chart.grab().isNull()
        hand.double_click(0.5, 0.5)
    assert ("4 NaN" in chart.caption.said()) is bool(np.isnan(number))


def test_another_model_a_theme_and_a_tiny_chart(room, begun, train_link, grown, qtbot):
    chart, _ = shown_spread(room, qtbot)
    room.spread.kind.setCurrentIndex(1)
    room.spread.layer.setCurrentIndex(1)
    first = begun.run.begun.parameters[0]
    name = "encoder." * 40 + "weight"
    other = replace(begun.run.begun, parameters=(replace(first, name=name),), units=())
    train_link.received.emit(other)
    assert room.spread.layer.count() == 1
    assert len(room.spread.layer.currentText()) < 60
    chart.resize(130, 90)
    for theme in ("dark", "light"):
        chart.set_theme(Theme.load(theme))
        assert not chart.grab().isNull()
    room.spread.kind.setCurrentIndex(2)
    assert room.spread.layer.count() == 0
    assert chart.curves == ()
    begun.controller.drop(begun.run.run_id)
    assert not chart.grab().isNull()
