import itertools

import pytest
from PySide6.QtCore import Qt

from gradscribe.engine.protocol.training import Option
from gradscribe.widgets.training.setup.number_field import NumberField, number_text


@pytest.fixture
def field(shown):
    made = shown(NumberField("lr", False, 1e-5, 10.0, log=True), 240, 40)
    made.told, made.refusals = [], []
    made.edited.connect(made.told.append)
    made.refused.connect(made.refusals.append)
    made.set_number(0.01)
    return made


def enter(qtbot, field, text):
    field.field.selectAll()
    qtbot.keyClicks(field.field, text)
    qtbot.keyClick(field.field, Qt.Key.Key_Return)


@pytest.mark.parametrize(
    ("number", "text"), [(0.03, "0.03"), (1e-5, "1e-05"), (250, "250"), (None, ""), (0.0, "0")]
)
def test_numbers_are_written_as_one_types_them(number, text):
    assert number_text(number) == text


def test_a_log_slider_has_every_decade_equally_wide(field):
    places = []
    for number in (1e-4, 1e-3, 1e-2, 1e-1):
        field.set_number(number)
        places.append(field.slider.value())
    gaps = {b - a for a, b in itertools.pairwise(places)}
    assert max(gaps) - min(gaps) <= 1
    assert field.told == []


def test_dragging_tells_round_numbers(field):
    field.slider.setValue(700)
    assert float(f"{field.told[-1]:.2g}") == field.told[-1]
    assert field.field.text() == number_text(field.told[-1])


def test_what_is_typed_is_taken_with_a_comma(qtbot, field):
    enter(qtbot, field, "0,25")
    assert field.told == [0.25]
    assert field.number == 0.25


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("abc", "abc is not a number"),
        ("11", "From 1e-05 to 10"),
        ("nan", "The number has to be finite"),
    ],
)
def test_what_is_no_such_number_is_refused_with_the_reason(qtbot, field, text, why):
    enter(qtbot, field, text)
    assert field.told == []
    assert field.refusals[-1] == why
    enter(qtbot, field, "1")
    assert field.refusals[-1] == ""


@pytest.mark.parametrize("number", [0.0719685673, 1.23457e-05, -0.123456789])
def test_a_number_wider_than_its_field_is_rounded_and_exact_where_it_is_edited(
    field, qtbot, number
):
    field.slider.setFocus()
    field.set_number(number)
    words, metrics = field.field.text(), field.field.fontMetrics()
    assert metrics.horizontalAdvance(words) <= field.field.width() - 8
    digits = len(words.lstrip("-0.").split("e")[0].replace(".", ""))
    assert float(words) == float(f"{number:.{digits}g}")
    assert field.field.toolTip() == number_text(number)
    field.field.setFocus()
    qtbot.waitUntil(field.field.hasFocus)
    assert field.field.text() == number_text(number)
    field.slider.setFocus()
    qtbot.waitUntil(lambda: field.field.text() == words)
    assert field.told == []
    assert field.number == number


def test_an_optional_number_can_be_empty(shown, qtbot):
    field, told = shown(NumberField("seed", True, optional=True)), []
    field.edited.connect(told.append)
    field.set_number(7)
    enter(qtbot, field, " ")
    assert told == [None]


def test_whole_numbers_have_a_place_each(shown):
    field, told = shown(NumberField("batch", True, 0, 32)), []
    field.edited.connect(told.append)
    field.slider.setValue(17)
    assert told == [17]


def test_more_than_the_slider_offers_may_be_typed_where_that_is_allowed(shown, qtbot):
    made = shown(NumberField("lr", False, 1e-5, 10.0, log=True, most=1e30), 280, 40)
    told = []
    made.edited.connect(told.append)
    enter(qtbot, made, "1e6")
    assert told == [1e6]
    assert made.slider.value() == made.slider.maximum()
    assert Option("lr", "float", 0.1, high=10.0).most > 1e6
    assert Option("momentum", "float", 0.1, high=1.0).most == 1.0


@pytest.mark.parametrize(
    ("typed", "count"),
    [("1,000", 1000), ("1,250,000", 1_250_000), ("1e6", 1_000_000), ("1.5e3", 1500), ("7", 7)],
)
def test_a_count_may_be_typed_as_it_is_shown(qtbot, shown, typed, count):
    made = shown(NumberField("Steps", True, 1), 240, 40)
    enter(qtbot, made, typed)
    assert made.number == count
    assert isinstance(made.number, int)


@pytest.mark.parametrize("typed", ["1,5", "10.5", "12.0", "1e999", "nan", "1,0000"])
def test_what_is_no_count_is_refused(qtbot, shown, typed):
    made, refusals = shown(NumberField("Steps", True, 1), 240, 40), []
    made.refused.connect(refusals.append)
    made.set_number(5)
    enter(qtbot, made, typed)
    assert "is not a whole number" in refusals[-1]
    assert made.number == 5
