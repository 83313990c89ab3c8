"""The table of trials: sorted by numbers as numbers, opened by double click and Return."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradscribe.widgets.tables.trial_table import TrialTable, TrialTableRow

COLUMNS = ("Trial", "lr", "Loss")


def rows(losses):
    return [
        TrialTableRow(at, (str(at), "0.1", str(loss)), (at, 0.1, loss), loss == min(losses))
        for at, loss in enumerate(losses, 1)
    ]


@pytest.fixture
def table(qtbot):
    shown = TrialTable()
    qtbot.addWidget(shown)
    shown.show_trials(COLUMNS, rows([10.0, 9.0, 100.0]))
    shown.resize(500, 300)
    shown.grab()
    return shown


def cells(table, column):
    model = table.model()
    return [model.index(row, column).data() for row in range(model.rowCount())]


def test_columns_sort_by_numbers_and_stay_sorted_as_they_change(table):
    assert cells(table, 0) == ["1", "2", "3"]
    table.sortByColumn(2, Qt.SortOrder.AscendingOrder)
    assert cells(table, 2) == ["9.0", "10.0", "100.0"]
    table.show_trials(COLUMNS, rows([10.0, 900.0, 1.0]))
    assert cells(table, 0) == ["3", "1", "2"]


def test_return_and_double_click_open_the_trial_of_the_row(table, qtbot):
    table.sortByColumn(2, Qt.SortOrder.AscendingOrder)
    table.select(3)
    with qtbot.waitSignal(table.opened) as sent:
        QTest.keyClick(table, Qt.Key.Key_Return)
    assert sent.args == [3]
    at = table.visualRect(table.model().index(0, 1)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    with qtbot.waitSignal(table.opened) as sent:
        QTest.mouseDClick(table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert sent.args == [2]


def test_selecting_tells_which_and_new_rows_select_none(table, qtbot):
    with qtbot.waitSignal(table.selected) as sent:
        table.select(2)
    assert sent.args == [2]
    table.show_trials(COLUMNS, [])
    assert table.model().rowCount() == 0
    QTest.keyClick(table, Qt.Key.Key_Return)
