"""A line to type a weight into."""

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QWidget

from gradscribe.widgets.plots.drawing.units.weight_entry import WeightEntry


@pytest.fixture
def entry(shown):
    over = shown(QWidget(), 300, 200)
    made = WeightEntry(over)
    made.heard = []
    made.told.connect(lambda *what: made.heard.append(what))
    return made


@pytest.mark.parametrize("at", [(0, 0), (299, 199), (-50, 900), (150, 100)])
def test_it_stays_within_what_it_floats_over(entry, at):
    entry.open("0.weight", 3, 0.25, QPointF(*at))
    assert entry.parentWidget().rect().contains(entry.geometry())
    assert entry.isVisible()


@pytest.mark.parametrize(("typed", "number"), [("1.5", 1.5), (" −0,25 ", -0.25), ("1e3", 1000.0)])
def test_what_is_typed_is_told_with_its_place(entry, qtbot, typed, number):
    entry.open("0.weight", 3, 0.1234567, QPointF(9, 9))
    assert entry.text() == "0.123457"
    assert entry.selectedText() == entry.text()
    entry.setText(typed)
    qtbot.keyClick(entry, Qt.Key.Key_Return)
    assert entry.heard == [("0.weight", 3, number)]
    assert not entry.isVisible()


@pytest.mark.parametrize("typed", ["", "two", "nan", "inf", "1e999"])
def test_what_is_no_number_stays_to_be_mended(entry, qtbot, typed):
    entry.open("0.weight", 3, 1.0, QPointF(9, 9))
    entry.setText(typed)
    qtbot.keyClick(entry, Qt.Key.Key_Return)
    assert entry.heard == []
    assert entry.isVisible()
    qtbot.keyClick(entry, Qt.Key.Key_Escape)
    assert not entry.isVisible()


def test_a_number_that_is_left_as_it_is_is_not_rounded(entry, qtbot):
    entry.open("0.weight", 3, 0.1234567, QPointF(9, 9))
    qtbot.keyClick(entry, Qt.Key.Key_Return)
    assert entry.heard == []
    assert not entry.isVisible()
