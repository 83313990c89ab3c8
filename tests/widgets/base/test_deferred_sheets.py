"""Sheets of widgets that wait until their window has been made."""

import pytest
import shiboken6
from PySide6.QtWidgets import QLabel, QWidget

from gradscribe.widgets.base.stylesheet import defer_sheets, set_deferred_sheets, set_sheet

RED, BLUE = "color: #ff0000", "color: #0000ff"


@pytest.fixture
def label(qtbot):
    over = QWidget()
    qtbot.addWidget(over)
    yield QLabel("words", over)
    set_deferred_sheets()


def test_a_sheet_is_set_at_once(label):
    set_sheet(label, RED)
    assert label.styleSheet() == RED


def test_a_sheet_that_waits_is_set_once_as_it_was_last(label):
    defer_sheets()
    set_sheet(label, RED)
    set_sheet(label, BLUE)
    assert label.styleSheet() == ""
    set_deferred_sheets()
    assert label.styleSheet() == BLUE
    set_sheet(label, RED)
    assert label.styleSheet() == RED, "none waits any more"


def test_a_widget_that_is_gone_by_then_is_left_out(label):
    defer_sheets()
    gone = QLabel("gone")
    set_sheet(gone, RED)
    set_sheet(label, BLUE)
    shiboken6.delete(gone)
    set_deferred_sheets()
    assert label.styleSheet() == BLUE
