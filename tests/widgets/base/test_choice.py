"""A box to choose from says all that it has room for."""

import pytest
from PySide6.QtWidgets import QStyleOptionComboBox

from gradscribe.widgets.base.choice import Choice

LONG = "Exclusive or, as many points as there are corners"


@pytest.fixture
def box(qtbot):
    made = Choice()
    # As the window has it: a list, no menu.
    made.setStyleSheet("QComboBox { combobox-popup: 0; }")
    qtbot.addWidget(made)
    made.addItems(["Line", LONG])
    made.resize(120, made.sizeHint().height())
    made.show()
    return made


def told(box):
    option = QStyleOptionComboBox()
    box.initStyleOption(option)
    return box.elided_text(option)


def test_a_word_without_room_ends_in_an_ellipsis(box):
    assert told(box) == "Line"
    box.setCurrentIndex(1)
    assert told(box).endswith("…")
    assert LONG.startswith(told(box)[:-1])
    box.resize(box.fontMetrics().horizontalAdvance(LONG) + 100, box.height())
    assert told(box) == LONG


def test_what_stands_for_no_choice_is_told(box):
    box.setPlaceholderText("None yet")
    box.setCurrentIndex(-1)
    assert told(box) == "None yet"


def test_the_list_has_room_for_its_words(box):
    box.widen_list()
    wide = box.fontMetrics().horizontalAdvance(LONG)
    assert box.view().minimumWidth() > wide > box.width()
