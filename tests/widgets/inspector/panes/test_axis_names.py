"""Names of rows and columns fit the width, and are drawn where there is space for them."""

import pytest
from PySide6.QtGui import QFontMetricsF

from gradscribe.widgets.base.theme import ui_font
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
