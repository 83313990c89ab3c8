"""Names of rows and columns fit the width, and are drawn where there is space for them."""

import pytest
from PySide6.QtGui import QFontMetricsF, QImage, QPainter

from gradscribe.widgets.base.theme import Theme, ui_font
from gradscribe.widgets.inspector.panes.axis_names import LEAST_CELL, SIZE, AxisNames

WORDS = ("the", "cat", "asleep")


def test_names_take_their_width_and_at_most_a_part_of_the_map(qapp):
    widest = QFontMetricsF(ui_font(SIZE, 600)).horizontalAdvance("asleep")
    assert AxisNames(WORDS, WORDS).left(400) == pytest.approx(widest + 6)
    assert AxisNames(("x" * 99,), WORDS).left(400) == pytest.approx(120)


def test_many_columns_leave_no_space_for_names(qapp):
    many = tuple(map(str, range(60)))
    assert AxisNames(many, many).left(200) == 0


def test_wide_columns_have_their_names_in_one_line_and_narrow_ones_slanted(qapp):
    names = AxisNames(WORDS, WORDS)
    assert names.below(80) < names.below(20)
    assert names.below(LEAST_CELL - 1) < names.below(80)


def test_a_place_is_named(qapp):
    assert AxisNames(WORDS, WORDS).place(1, 2).strip() == "cat → asleep"


@pytest.mark.parametrize("columns", [WORDS, (*WORDS, "overwhelmingly")])
def test_turned_names_stay_within_the_map(qapp, columns):
    """The last name of the columns was cut off at the right edge of the inspector."""
    names, wide, high, spare = AxisNames(WORDS, columns), 14.0, 14.0, 80
    left = names.left(200)
    right = left + wide * len(columns)
    whole = QImage(round(right) + 2 * spare, 250, QImage.Format.Format_ARGB32)
    whole.fill(0)
    with QPainter(whole) as painter:
        painter.translate(spare, 0)
        names.paint(painter, Theme.load("light"), (left, wide, high), None)
    inked = [
        x for x in range(whole.width()) if any(whole.pixel(x, y) for y in range(whole.height()))
    ]
    assert spare <= min(inked)
    assert max(inked) <= spare + right
    below = high * len(WORDS) + 3
    assert any(whole.pixel(x, y) for x in inked for y in range(round(below), whole.height()))
