"""Columns by keyboard: their width, their order, and a click on their head."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QHeaderView, QTableWidget, QTableWidgetItem

from gradscribe.widgets.base.focus.head_keys import STEP, HeadKeys

HELD = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def table(qtbot):
    made = QTableWidget(3, 2)
    qtbot.addWidget(made)
    for row, (name, loss) in enumerate((("b", "2"), ("a", "3"), ("c", "1"))):
        made.setItem(row, 0, QTableWidgetItem(name))
        made.setItem(row, 1, QTableWidgetItem(loss))
    made.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
    made.setSortingEnabled(True)
    HeadKeys(made)
    made.setCurrentCell(0, 1)
    return made


def texts(table):
    return [table.item(row, 1).text() for row in range(3)]


def test_a_column_is_sorted_both_ways(table):
    QTest.keyClick(table, Qt.Key.Key_Up, HELD)
    assert texts(table) == ["1", "2", "3"]
    QTest.keyClick(table, Qt.Key.Key_Down, HELD)
    assert texts(table) == ["3", "2", "1"]


def test_a_column_gets_wider_and_narrower_but_never_vanishes(table):
    wide = table.columnWidth(1)
    QTest.keyClick(table, Qt.Key.Key_Right, HELD)
    assert table.columnWidth(1) == wide + STEP
    for _ in range(20):
        QTest.keyClick(table, Qt.Key.Key_Left, HELD)
    assert table.columnWidth(1) == table.horizontalHeader().minimumSectionSize()


def test_a_head_is_clicked_and_other_keys_are_left_alone(table, qtbot):
    with qtbot.waitSignal(table.horizontalHeader().sectionClicked, timeout=1000) as clicked:
        QTest.keyClick(table, Qt.Key.Key_Return, HELD)
    assert clicked.args == [1]
    QTest.keyClick(table, Qt.Key.Key_Down)
    assert table.currentRow() == 1
