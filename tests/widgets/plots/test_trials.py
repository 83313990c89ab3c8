"""Pictures of a sweep: axes of its options, points and lines that are found and clicked."""

import math

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest

from gradscribe.widgets.plots.trials import PlottedTrial, TrialParallels, TrialScatter, axis_of

NAMES = ("optimizer.lr", "model.activation")
TRIALS = tuple(
    PlottedTrial(number, (10.0 ** -(number % 4), "relu" if number % 2 else "tanh"), loss, "words")
    for number, loss in enumerate((0.5, 0.25, 0.01, 2.0, math.nan, 0.125), 1)
)


@pytest.mark.parametrize(
    ("values", "is_log"),
    [
        ([1e-4, 1e-3, 1e-2, 1.0], True),
        ([1, 2, 4, 8, 16], True),
        ([0.1, 0.2, 0.3, 0.4], False),
        ([0.0, 1e6], False),
        ([-1.0, 1e6], False),
        ([5.0], False),
        ([], False),
    ],
)
def test_numbers_that_are_far_apart_have_a_logarithmic_axis(values, is_log):
    found = axis_of(values)
    assert found.axis.log is is_log
    shares = [found.share(value) for value in values]
    assert all(0 <= share <= 1 for share in shares)
    assert shares == sorted(shares)


def test_texts_stand_one_after_another_also_between_numbers():
    found = axis_of(["relu", "tanh", "relu", 3.0])
    assert found.texts == ("relu", "tanh", "3.0")
    assert found.share("relu") < found.share("tanh") < found.share(3.0)
    assert [label for _, label in found.ticks(9)] == ["relu", "tanh", "3.0"]
    assert len(axis_of([str(at) for at in range(5000)]).ticks(10)) <= 10


def test_integers_have_no_ticks_between_them():
    assert [label for _, label in axis_of([0, 1, 2]).ticks(5)] == ["0", "1", "2"]


@pytest.fixture(params=[TrialScatter, TrialParallels])
def plot(request, qtbot):
    shown = request.param()
    qtbot.addWidget(shown)
    shown.resize(600, 360)
    shown.show_trials(NAMES, TRIALS)
    shown.grab()
    return shown


def test_a_click_on_a_trial_picks_it(plot, qtbot):
    places = {trial.number: where for trial, where in plot._places}
    assert set(places) == {1, 2, 3, 4, 6}
    for number, where in places.items():
        # At the end of a line no other line is near: every loss is another one.
        at = where.at(where.size() - 1).toPoint()
        with qtbot.waitSignal(plot.picked) as sent:
            QTest.mouseClick(plot.canvas, Qt.MouseButton.LeftButton, pos=at)
        assert sent.args == [number]
        assert plot.at_mouse().number == number


def test_a_click_where_no_trial_is_picks_none(plot, qtbot):
    with qtbot.assertNotEmitted(plot.picked):
        QTest.mouseClick(plot.canvas, Qt.MouseButton.LeftButton, pos=QPoint(2, 2))


def test_the_best_is_drawn_last_and_the_selected_one_otherwise(plot):
    assert plot.ended()[-1].number == 3
    before = plot.grab().toImage()
    plot.select(1)
    assert plot.grab().toImage() != before
    plot.select(None)
    assert plot.grab().toImage() == before


def test_without_a_result_it_says_so_and_finds_nothing(plot):
    plot.show_trials(NAMES, [PlottedTrial(1, (0.1, "relu"), math.nan)])
    plot.grab()
    plot.mouse = QPointF(100, 100)
    assert plot.at_mouse() is None


def test_one_option_and_equal_values_and_thousands_of_trials_are_drawn(plot):
    plot.show_trials(("seed",), [PlottedTrial(1, (3.0,), 0.5)])
    plot.grab()
    assert len(plot._places) == 1
    many = [PlottedTrial(at, (float(at % 9), "x" * 50), 1 / (1 + at)) for at in range(3000)]
    plot.show_trials(NAMES, many)
    plot.grab()
    assert len(plot._places) >= 1500
