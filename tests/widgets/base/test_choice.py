"""A box to choose from says all that it has room for."""

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QStyleOptionComboBox, QToolTip

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


def test_a_text_that_is_elided_is_whole_in_the_tool_tip(box, monkeypatch):
    shown = []
    # Without a screen a tool tip cannot be raised.
    monkeypatch.setattr(QToolTip, "showText", lambda _at, text, *_: shown.append(text))
    box.setToolTip("The data")
    assert box.whole_tip() == "The data"
    box.setCurrentIndex(1)
    assert box.whole_tip() == f"{LONG}\nThe data"
    place = box.rect().center()
    QApplication.sendEvent(box, QHelpEvent(QEvent.Type.ToolTip, place, box.mapToGlobal(place)))
    assert shown == [f"{LONG}\nThe data"]


def test_as_wide_as_it_needs_nothing_is_elided(box):
    box.setCurrentIndex(1)
    box.resize(box.needed_width(), box.height())
    assert told(box) == LONG
    assert box.whole_tip() == ""
    box.resize(box.needed_width() - 12, box.height())
    assert told(box) != LONG


def test_what_stands_for_no_choice_is_told(box):
    box.setPlaceholderText("None yet")
    box.setCurrentIndex(-1)
    assert told(box) == "None yet"


def test_the_list_has_room_for_its_words(box):
    box.widen_list()
    wide = box.fontMetrics().horizontalAdvance(LONG)
    assert box.view().minimumWidth() > wide > box.width()
