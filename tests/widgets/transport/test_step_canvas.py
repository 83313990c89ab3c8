"""The picture of the step strip, with real mouse and keys."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradscribe.playback.tape.loops.step_curves import StepCurve
from gradscribe.playback.tape.loops.steps import RateChange, StepMarks, Steps
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.transport.step_canvas import StepCanvas, polylines, tick_distance


def curve(numbers, name="loss"):
    numbers = np.asarray(numbers, float)
    return StepCurve(name, np.arange(len(numbers)) + 0.5, numbers, True)


@pytest.fixture
def canvas(shown):
    made = shown(StepCanvas(), 1000, 44)
    marks = StepMarks({1: "at 0", 51: "at 50"}, (RateChange(151, "SGD", 0.1, 0.01),))
    made.set_steps(Steps(tuple(range(300)), 300), marks)
    made.set_curves([curve(1 / np.arange(1, 301))])
    made.set_place(20, 0.5)
    made.heard = []
    made.picked.connect(made.heard.append)
    return made


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (Qt.Key.Key_PageDown, [21]),
        (Qt.Key.Key_PageUp, [19]),
        (Qt.Key.Key_Right, [21]),
        (Qt.Key.Key_Left, [19]),
        (Qt.Key.Key_Home, [1]),
        (Qt.Key.Key_End, [300]),
    ],
)
def test_keys_pick_steps(canvas, key, expected):
    QTest.keyClick(canvas, key)
    assert canvas.heard == expected


def test_keys_stop_at_the_ends(canvas):
    canvas.set_place(300, 1.0)
    QTest.keyClick(canvas, Qt.Key.Key_PageDown)
    canvas.set_place(1, 0.0)
    QTest.keyClick(canvas, Qt.Key.Key_PageUp)
    assert canvas.heard == []


def test_a_press_picks_the_step_it_points_at_and_a_drag_follows(canvas):
    QTest.mousePress(
        canvas, Qt.MouseButton.LeftButton, pos=QPoint(round(canvas.x_of(99.5)), 10)
    )  # fmt: skip
    QTest.mouseMove(canvas, QPoint(round(canvas.x_of(200.5)), 10))
    QTest.mouseMove(canvas, QPoint(5000, 10))
    QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=QPoint(5000, 10))
    QTest.mouseMove(canvas, QPoint(10, 10))
    assert canvas.heard == [100, 201, 300]


def test_the_wheel_turns_one_step_a_notch(canvas):
    centre = QPointF(canvas.rect().center())
    for delta in (60, 60, -120):
        sent = QWheelEvent(
            centre, canvas.mapToGlobal(centre), QPoint(), QPoint(0, delta),
            Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(canvas, sent)
    assert canvas.heard == [21, 19]


def test_the_tip_names_the_step_its_number_and_its_marks(canvas):
    assert canvas.text_at(4) == "Step 4 of 300 · loss = 0.2500"
    assert canvas.text_at(51).endswith("printed at 50")
    assert "SGD lr 0.1 → 0.01" in canvas.text_at(151)


def test_a_step_without_a_number_says_none(canvas):
    canvas.set_curves([StepCurve("loss", np.array([0.5]), np.array([2.0]))])
    assert canvas.text_at(2) == "Step 2 of 300"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [80, 640, 1900])
@pytest.mark.parametrize(
    "numbers",
    [
        [1.0, 2.0, 3.0],
        [np.nan, np.inf, -np.inf],
        [np.nan, 5.0, np.nan],
        [1e308, -1e308, 0.0],
        [0.0] * 2000,
        np.geomspace(1e-12, 1e12, 20_000),
    ],
)
def test_it_paints_at_any_width_and_whatever_the_numbers(canvas, theme, width, numbers):
    canvas.set_theme(Theme.load(theme))
    canvas.set_steps(
        Steps(tuple(range(len(numbers))), len(numbers)),
        StepMarks(dict.fromkeys(range(1, len(numbers)), "")),
    )
    canvas.set_curves([curve(numbers), curve(numbers[::-1], "other")])
    canvas.resize(width, canvas.sizeHint().height())
    canvas.set_place(2, 0.5)
    assert not canvas.grab().isNull()


def test_the_curve_is_drawn_where_its_numbers_are(canvas):
    theme = Theme.load("light")
    canvas.set_theme(theme)
    canvas.set_steps(Steps(tuple(range(10)), 10), StepMarks())
    canvas.set_curves([curve([0.0] * 5 + [10.0] * 5)])
    canvas.set_place(1, 0.0)
    picture = canvas.grab().toImage()
    ratio = picture.devicePixelRatio()

    def height_at(place):
        x = round(canvas.x_of(place) * ratio)
        column = [picture.pixelColor(x, y) for y in range(picture.height())]
        far = [abs(c.red() - theme.forward.red()) + abs(c.blue() - theme.forward.blue())
               for c in column]  # fmt: skip
        return far.index(min(far)) / ratio

    assert height_at(7) < height_at(3) - 10


def test_ticks_are_round_and_far_enough_apart():
    assert tick_distance(300, 10) == 50
    assert tick_distance(3, 15) == 1
    assert tick_distance(2000, 15) == 200
    assert tick_distance(7, 0.1) == 10


def test_a_gap_parts_the_line_and_a_lone_number_stays_visible():
    x = np.arange(6.0)
    y = np.array([1.0, 2.0, np.nan, 4.0, np.nan, np.nan])
    parts = polylines(x, y, 100)
    assert [part.tolist() for part in parts] == [[[0, 1], [1, 2]], [[3, 4], [4, 4]]]


def test_many_numbers_keep_their_extremes_in_few_points():
    x = np.linspace(0, 100, 50_000)
    y = np.zeros(50_000)
    y[33_333], y[44_444] = 7.0, -9.0
    (part,) = polylines(x, y, 100)
    assert len(part) <= 4 * 101
    assert part[:, 1].max() == 7.0
    assert part[:, 1].min() == -9.0


@pytest.fixture
def partial(shown):
    """Steps 1 to 10 and 100 in full, of 100."""
    made = shown(StepCanvas(), 1016, 44)
    starts = (*range(11), 11)
    steps = Steps(starts, 12, (*range(1, 11), 99, 100), frozenset((10,)), 100)
    made.set_steps(steps, StepMarks())
    made.heard = []
    made.picked.connect(made.heard.append)
    return made


@pytest.mark.qt_log_ignore("does not support raise")
def test_a_drag_over_steps_without_a_recording_picks_the_last_alone(partial):
    def at(number):
        return QPoint(round(partial.x_of(number - 0.5)), 10)

    QTest.mousePress(partial, Qt.MouseButton.LeftButton, pos=at(30))
    for number in (35, 50, 60):
        QTest.mouseMove(partial, at(number))
        assert partial.value() == number
    assert partial.heard == []
    QTest.mouseRelease(partial, Qt.MouseButton.LeftButton, pos=at(60))
    assert partial.heard == [60]


def test_a_drag_to_a_recorded_step_picks_it_at_once(partial):
    QTest.mousePress(partial, Qt.MouseButton.LeftButton, pos=QPoint(round(partial.x_of(4.5)), 10))
    assert partial.heard == [5]
    QTest.mouseRelease(partial, Qt.MouseButton.LeftButton)
    assert partial.heard == [5]


def test_the_tip_says_that_a_step_has_numbers_alone(partial):
    assert "brings it back" in partial.text_at(50)
    assert "brings it back" not in partial.text_at(5)


def test_recorded_steps_are_underlined(partial):
    shot = partial.grab().toImage()
    y = round(partial._area().bottom()) - 1
    dark = [x for x in range(20, 1000) if shot.pixelColor(x, y).lightness() < 190]
    assert any(x < partial.x_of(10) for x in dark)
    assert not any(partial.x_of(40) < x < partial.x_of(49) for x in dark)


def test_the_steps_of_a_running_program_are_drawn_and_said_to_come(canvas):
    canvas.set_growth(1200)
    canvas.set_curves([curve(1 / np.arange(1, 1201))])
    assert canvas.x_of(1200) == pytest.approx(
        canvas.x_of(0) + 4 * (canvas.x_of(300) - canvas.x_of(0))
    )
    assert "step 1,200 of 1,200" in canvas.text_at(1200).lower()
    assert "the program runs" in canvas.text_at(1200)
    assert "the program runs" not in canvas.text_at(300)
    QTest.keyClick(canvas, Qt.Key.Key_End)
    assert canvas.heard == [1200]


def test_growth_never_hides_a_recorded_step(canvas):
    canvas.set_growth(10)
    assert canvas.maximum() == 300
