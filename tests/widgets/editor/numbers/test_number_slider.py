from decimal import Decimal

import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QWidget

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor.numbers.number_drag import LiveLiteral
from gradscribe.widgets.editor.numbers.number_literal import find_literals
from gradscribe.widgets.editor.numbers.number_slider import HEIGHT, NumberSlider, slider_range
from gradscribe.widgets.editor.style import EditorStyle

BOUNDS = QRectF(40, 0, 360, 300)


@pytest.fixture
def parent(qtbot):
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.resize(400, 300)
    parent.show()
    return parent


@pytest.fixture
def strip(parent):
    strip = NumberSlider(parent)
    strip.set_style(EditorStyle(Theme.load("light"), 13))
    return strip


@pytest.fixture
def live(qtbot):
    """Return a function from a number to the live literal of it in a document."""
    held = []

    def make(text):
        document = QTextDocument(f"f({text})")
        held.append(document)
        (literal,) = find_literals(f"f({text})")
        return LiveLiteral(document.firstBlock(), literal)

    return make


def ends(live):
    step, ticks = slider_range(live)
    return live.literal.moved(-step * ticks), live.literal.moved(step * ticks)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("2.5", "0.0", "5.0"),
        ("-3.0", "-6.0", "0.0"),
        ("0.0", "-1.0", "1.0"),
        ("0", "-5", "5"),
        ("2", "-3", "7"),
        ("100", "0", "200"),
        ("1e-3", "0e-3", "2e-3"),
    ],
)
def test_the_slider_reaches_to_zero_and_as_far_to_the_other_side(live, text, low, high):
    assert ends(live(text)) == (low, high)


@pytest.mark.parametrize("text", ["123456789", "0.00001", "6.8814", "1e300", "99999.5"])
def test_no_number_needs_more_steps_than_a_slider_has(live, text):
    step, ticks = slider_range(live(text))
    assert 1 <= ticks <= 1000
    assert step > 0


def test_sliding_tells_the_change_from_where_it_opened(qtbot, strip, live):
    told = []
    strip.slid.connect(told.append)
    strip.open_at(live("2.5"), QRectF(100, 50, 20, 20), BOUNDS)
    strip.slider.setFocus()
    qtbot.keyClick(strip.slider, Qt.Key.Key_Right)
    qtbot.keyClick(strip.slider, Qt.Key.Key_Right)
    qtbot.keyClick(strip.slider, Qt.Key.Key_Left)
    assert told == [Decimal("0.1"), Decimal("0.2"), Decimal("0.1")]


def test_opening_tells_of_no_change(strip, live):
    told = []
    strip.slid.connect(told.append)
    strip.open_at(live("2.5"), QRectF(100, 50, 20, 20), BOUNDS)
    strip.slider.setValue(7)
    told.clear()
    strip.open_at(live("7"), QRectF(100, 50, 20, 20), BOUNDS)
    assert told == []


def test_it_opens_under_the_number_and_inside_the_bounds(strip, live):
    strip.open_at(live("2.5"), QRectF(390, 50, 20, 20), BOUNDS)
    place = QRectF(strip.geometry())
    assert BOUNDS.contains(place)
    assert place.top() >= 70


def test_at_the_lower_border_it_opens_above(strip, live):
    strip.open_at(live("2.5"), QRectF(100, 270, 20, 20), BOUNDS)
    assert strip.geometry().bottom() <= 270
    assert strip.height() == HEIGHT


def test_in_a_narrow_editor_it_is_narrower(strip, live):
    narrow = QRectF(40, 0, 120, 300)
    strip.open_at(live("2.5"), QRectF(60, 50, 20, 20), narrow)
    assert strip.width() <= 120


def test_escape_takes_changes_back_and_closes(qtbot, strip, live):
    told = []
    strip.slid.connect(told.append)
    strip.open_at(live("2.5"), QRectF(100, 50, 20, 20), BOUNDS)
    qtbot.keyClick(strip.slider, Qt.Key.Key_Right)
    with qtbot.waitSignal(strip.closed):
        qtbot.keyClick(strip.slider, Qt.Key.Key_Escape)
    assert told[-1] == 0
    assert not strip.isVisible()


def test_return_keeps_the_change_and_closes(qtbot, strip, live):
    told = []
    strip.slid.connect(told.append)
    strip.open_at(live("2.5"), QRectF(100, 50, 20, 20), BOUNDS)
    qtbot.keyClick(strip.slider, Qt.Key.Key_Right)
    qtbot.keyClick(strip.slider, Qt.Key.Key_Return)
    assert told == [Decimal("0.1")]
    assert strip.live is None


def test_it_names_its_number_for_screen_readers(strip, live):
    strip.open_at(live("2.5"), QRectF(100, 50, 20, 20), BOUNDS)
    assert "2.5" in strip.slider.accessibleName()
    assert "line 1" in strip.slider.accessibleName()


def test_a_press_anywhere_in_the_strip_takes_the_handle_there_and_drags_it(qtbot, strip, live):
    told = []
    strip.slid.connect(told.append)
    strip.open_at(live("2.5"), QRectF(100, 50, 20, 20), BOUNDS)
    track = strip.slider
    low, high = QPoint(2, 2), QPoint(track.width() - 2, track.height() - 2)
    qtbot.mousePress(track, Qt.MouseButton.LeftButton, pos=high)
    qtbot.mouseMove(track, low)
    qtbot.mouseRelease(track, Qt.MouseButton.LeftButton, pos=low)
    assert told == [Decimal("2.5"), Decimal("-2.5")]


def test_a_press_beside_the_handle_does_not_reach_the_code_underneath(qtbot, strip, live, parent):
    strip.open_at(live("2.5"), QRectF(100, 50, 20, 20), BOUNDS)
    qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=QPoint(3, 3))
    assert strip.isVisible()
