"""The spread over time on the training page: what came is drawn, linked, read and taken away."""

import csv
import dataclasses
import io

import numpy as np
import pytest

from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.training import ViewReply
from gradscribe.widgets.charts.spread import NAMES
from tests.app.training.fakes import array


def reply(run, step):
    """Return the spread of normal numbers whose deviation grows with the step."""
    rows = 2 * len(run.begun.parameters) + len(run.begun.units)
    rng = np.random.default_rng(step)
    numbers = rng.normal(size=(rows, 400)) * (1 + step / 100)
    quantiles = np.quantile(numbers, (0, 0.05, 0.25, 0.5, 0.75, 0.95, 1), axis=1).T
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


def numbers(room):
    return [curve.series.numbers().tolist() for curve in room.spread.chart.curves]


def test_the_chosen_tensor_is_drawn_since_step_0(room, begun, grown):
    parameters = len(begun.run.begun.parameters)
    want = np.array([grown[step][0] for step in sorted(grown)], np.float32).T
    assert numbers(room) == want.tolist()
    assert [curve.name for curve in room.spread.chart.curves] == list(NAMES)
    room.spread.kind.setCurrentIndex(1)
    room.spread.layer.setCurrentIndex(1)
    want = np.array([grown[step][parameters + 1] for step in sorted(grown)], np.float32).T
    assert numbers(room) == want.tolist()
    assert "3 NaN" in room.spread.chart.caption.said()
    assert "1 infinite" in room.spread.chart.caption.said()


def test_the_area_between_quantiles_is_tinted(room, grown, qtbot):
    chart = room.spread.chart
    room.numbers.setCurrentWidget(room.over_time)
    qtbot.waitUntil(lambda: chart.view.width() > 100)
    tinted, frame, axis = chart.view.grab().toImage(), chart._drawn.area, chart._drawn.y
    chart.set_curves([dataclasses.replace(curve, fill_to=None) for curve in chart.curves])
    plain = chart.view.grab().toImage()
    # At the last step the deviation is 3, and the quartiles are at 2 up and down.
    x = round(frame.right() - 3)
    near, far = (
        round(frame.bottom() - axis.number_share(number) * frame.height())
        for number in (1.0, axis.high)
    )
    assert tinted.pixelColor(x, near) != plain.pixelColor(x, near)
    assert tinted.pixelColor(x, far + 3) == plain.pixelColor(x, far + 3)


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
    assert set(rows[0][1:]) == set(NAMES)
    order = [rows[0].index(name) for name in NAMES]
    _, stored = begun.run.spread.rows(0)
    found = np.array([[row[at] for at in order] for row in rows[1:]], np.float32)
    assert found.tobytes() == stored.tobytes()


def test_another_run_begins_empty(room, begun, train_link, grown):
    train_link.begin(1, replace(begun.setup, seed=9))
    assert len(begun.run.spread) == 0


def test_long_names_and_both_themes(room, grown):
    for name in ("dark", "light"):
        from gradscribe.widgets.base.theme import Theme

        room.spread.chart.set_theme(Theme.load(name))
        assert not room.spread.chart.grab().isNull()
