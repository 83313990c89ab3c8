import itertools

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradscribe.playback.tape.track import Segment
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.transport.scrubber import Scrubber

SEGMENTS = (
    Segment("Forward", 0, 10),
    Segment("Loss", 10, 11),
    Segment("Backward", 11, 20),
    Segment("Update", 20, 23),
)


def loop(passes):
    return tuple(
        Segment(s.phase, s.start + 23 * i, s.stop + 23 * i) for i in range(passes) for s in SEGMENTS
    )


@pytest.fixture
def scrubber(shown):
    made = shown(Scrubber(), 1000, 60)
    made.set_track(SEGMENTS, 23)
    made.heard = []
    made.valueChanged.connect(made.heard.append)
    return made


def wheel(widget, delta):
    centre = QPointF(widget.rect().center())
    sent = QWheelEvent(
        centre, widget.mapToGlobal(centre), QPoint(), QPoint(0, delta), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(widget, sent)


@pytest.mark.parametrize(
    ("start", "key", "expected"),
    [
        (5, Qt.Key.Key_Right, 6),
        (5, Qt.Key.Key_Left, 4),
        (5, Qt.Key.Key_Home, 0),
        (5, Qt.Key.Key_End, 23),
        (5, Qt.Key.Key_PageDown, 10),
        (10, Qt.Key.Key_PageDown, 11),
        (21, Qt.Key.Key_PageDown, 23),
        (5, Qt.Key.Key_PageUp, 0),
        (20, Qt.Key.Key_PageUp, 11),
    ],
)
def test_keys_step_and_jump(scrubber, start, key, expected):
    scrubber.set_position(start)
    QTest.keyClick(scrubber, key)
    assert scrubber.value() == expected
    assert scrubber.heard == [expected]


@pytest.mark.parametrize(("start", "key"), [(0, Qt.Key.Key_Left), (23, Qt.Key.Key_Right)])
def test_keys_stop_at_the_ends(scrubber, start, key):
    scrubber.set_position(start)
    QTest.keyClick(scrubber, key)
    assert scrubber.value() == start
    assert scrubber.heard == []


def test_keys_with_a_modifier_are_left_to_others(scrubber):
    scrubber.set_position(5)
    QTest.keyClick(scrubber, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    assert scrubber.value() == 5


def test_the_wheel_steps_one_event_a_notch_and_gathers_small_turns(scrubber):
    scrubber.set_position(5)
    wheel(scrubber, 120)
    wheel(scrubber, -240)
    assert scrubber.heard == [6, 4]
    for _ in range(3):
        wheel(scrubber, 40)
    assert scrubber.value() == 5


def test_placing_it_by_program_tells_nobody(scrubber):
    scrubber.set_position(12)
    scrubber.set_track(SEGMENTS[:2], 11)
    assert scrubber.value() == 11
    assert scrubber.heard == []


def test_a_press_goes_where_it_points_and_a_drag_follows(scrubber):
    backward = scrubber.spans()[2]
    y = 30
    QTest.mousePress(
        scrubber, Qt.MouseButton.LeftButton,
        pos=QPoint(round(scrubber.margin() + backward.x_at(15)), y),
    )  # fmt: skip
    assert scrubber.value() == 15
    QTest.mouseMove(scrubber, QPoint(round(scrubber.margin() + backward.x_at(18)), y))
    assert scrubber.value() == 18
    QTest.mouseMove(scrubber, QPoint(-200, y))
    assert scrubber.value() == 0
    QTest.mouseRelease(scrubber, Qt.MouseButton.LeftButton)
    QTest.mouseMove(scrubber, QPoint(500, y))
    assert scrubber.value() == 0


def test_the_thumb_moves_right_with_every_event(scrubber):
    places = []
    for position in range(24):
        scrubber.set_position(position)
        places.append(scrubber.margin() + scrubber._x_at(scrubber.value()))
    assert places == sorted(set(places))
    assert places[0] >= scrubber.margin()
    assert places[-1] <= scrubber.width() - scrubber.margin() + 0.01


def test_a_few_segments_are_shown_whole(scrubber):
    assert not scrubber.is_zoomed()
    assert scrubber.shown() == (0, 23)


def test_a_long_loop_shows_the_current_stretch_and_pages_with_the_position(scrubber):
    scrubber.set_track(loop(250), 250 * 23)
    assert scrubber.is_zoomed()
    scrubber.set_position(23 * 7 + 5)
    assert scrubber.shown() == (23 * 7, 23 * 8)
    assert [span.phase for span in scrubber.spans()] == ["Forward", "Loss", "Backward", "Update"]
    scrubber.set_position(23 * 8)
    assert scrubber.shown() == (23 * 7, 23 * 8)
    scrubber.set_position(23 * 8 + 1)
    assert scrubber.shown() == (23 * 8, 23 * 9)


def test_dragging_in_a_stretch_stays_in_it(scrubber):
    scrubber.set_track(loop(250), 250 * 23)
    scrubber.resize(1000, scrubber.sizeHint().height())
    scrubber.set_position(23 * 7 + 5)
    QTest.mousePress(scrubber, Qt.MouseButton.LeftButton, pos=QPoint(500, 30))
    QTest.mouseMove(scrubber, QPoint(2000, 30))
    assert scrubber.value() == 23 * 8
    QTest.mouseMove(scrubber, QPoint(-2000, 30))
    assert scrubber.value() == 23 * 7 + 1
    QTest.mouseRelease(scrubber, Qt.MouseButton.LeftButton)
    assert scrubber.shown() == (23 * 7, 23 * 8)


def test_page_keys_are_left_to_the_window_where_there_are_steps(scrubber):
    scrubber.set_position(5)
    scrubber.turns_steps = True
    QTest.keyClick(scrubber, Qt.Key.Key_PageDown)
    QTest.keyClick(scrubber, Qt.Key.Key_PageUp)
    assert scrubber.value() == 5


def test_the_tip_names_the_phase_and_what_it_is_given(scrubber):
    assert scrubber.text_at(12) == "Backward · Event 12"
    scrubber.describe = lambda position: f"step 2 of 9, event {position} of 23"
    assert scrubber.text_at(10) == "Forward · step 2 of 9, event 10 of 23"


@pytest.mark.parametrize("width", [300, 700, 1000, 1900])
@pytest.mark.parametrize("sizes", [(3, 1, 400, 2), (400, 1, 3, 2), (5, 1, 5, 1) * 9])
def test_backward_has_its_label_at_any_width(scrubber, width, sizes):
    segments, at = [], 0
    for phase, size in zip(("Forward", "Loss", "Backward", "Update") * 9, sizes, strict=False):
        segments.append(Segment(phase, at, at + size))
        at += size
    scrubber.set_track(segments, at, (0,))
    scrubber.resize(width, scrubber.sizeHint().height())
    named = [span.phase for span, _ in scrubber.labels()]
    assert "Backward" in named
    edges = [(left, left + scrubber.label_width(span.phase)) for span, left in scrubber.labels()]
    assert edges[0][0] >= 0
    assert edges[-1][1] <= width - 2 * scrubber.margin() + 0.01
    assert all(a[1] < b[0] for a, b in itertools.pairwise(edges))


def test_a_neighbour_of_the_narrowest_phase_keeps_its_label(scrubber):
    segments = (Segment("zero_grad", 0, 1), *(
        Segment(s.phase, s.start + 1, s.stop + 1) for s in SEGMENTS
    ))  # fmt: skip
    scrubber.set_track(segments, 24)
    named = [span.phase for span, _ in scrubber.labels()]
    assert named == ["zero_grad", "Forward", "Loss", "Backward", "Update"]


def test_scenes_that_are_given_decide_the_stretches(scrubber):
    scrubber.set_track(loop(3), 69, (0, 46))
    scrubber.set_position(30)
    assert scrubber.shown() == (0, 46)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [10, 160, 1300])
@pytest.mark.parametrize("passes", [0, 1, 250])
def test_it_paints_at_any_width(scrubber, theme, width, passes):
    scrubber.set_theme(Theme.load(theme))
    scrubber.set_track(loop(passes), passes * 23)
    scrubber.resize(width, scrubber.sizeHint().height())
    for position in (0, passes * 11, passes * 23):
        scrubber.set_position(position)
        assert not scrubber.grab().isNull()


def test_what_has_happened_is_painted_stronger_than_what_has_not(scrubber):
    theme = Theme.load("light")
    scrubber.set_theme(theme)
    scrubber.set_position(5)
    picture = scrubber.grab().toImage()
    ratio = picture.devicePixelRatio()
    forward = scrubber.spans()[0]

    def color_at(position):
        x = round((scrubber.margin() + forward.x_at(position)) * ratio)
        return [picture.pixelColor(x, y).name() for y in range(picture.height())]

    assert theme.forward.name() in color_at(2.5)
    assert theme.forward_soft.name() not in color_at(2.5)
    assert theme.forward_soft.name() in color_at(8.5)
    assert theme.forward.name() not in color_at(8.5)


def test_a_screen_reader_hears_a_slider_with_a_name(scrubber):
    assert scrubber.accessibleName() == "Position on the tape"
    assert (scrubber.minimum(), scrubber.maximum()) == (0, 23)


def test_passes_are_labelled_by_their_names_where_there_is_space(shown):
    scrubber = shown(Scrubber(), 900, 60)
    parts = [
        Segment("Forward", 0, 4),
        Segment("Backward", 4, 8, "Backward 1 of 2"),
        Segment("Backward", 8, 12, "Backward 2 of 2"),
        Segment("Backward", 12, 16, "Second derivative"),
    ]
    scrubber.set_track(parts, 16)
    named = [span.title for span, _ in scrubber.labels()]
    assert named == ["Forward", "Backward 1 of 2", "Backward 2 of 2", "Second derivative"]
    edges = [(x, x + scrubber.label_width(span.title)) for span, x in scrubber.labels()]
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(edges))
    scrubber.resize(330, 60)
    plain = [span.title for span, _ in scrubber.labels()]
    assert "Backward" in plain
    edges = [(x, x + scrubber.label_width(span.title)) for span, x in scrubber.labels()]
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(edges))
