"""The table of trials: sorted by numbers as numbers, opened by double click and Return."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from gradscribe.widgets.base.columns.widths import chosen
from gradscribe.widgets.base.theme import Theme
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


def shown_text(table, row, column):
    """Return a cell's text as far as it is painted, and the whole text."""
    option = QStyleOptionViewItem()
    table.initViewItemOption(option)
    index = table.model().index(row, column)
    option.widget = table
    table.itemDelegateForIndex(index).initStyleOption(option, index)
    option.rect = table.visualRect(index)
    part = QStyle.SubElement.SE_ItemViewItemText
    room = table.style().subElementRect(part, option, table).width()
    margin = table.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin) + 1
    metrics, words = QFontMetrics(option.font), index.data()
    return metrics.elidedText(words, table.textElideMode(), room - 2 * margin), words


def test_numbers_that_come_later_are_whole_in_any_order_and_in_bold(table):
    table.wide = frozenset(["Loss"])
    table.set_theme(Theme.load("light"))
    table.resize(900, 200)
    table.show()
    table.show_trials(COLUMNS, rows([0.5] * 31))
    later = rows([0.000231617, *[0.5] * 29, 8.26123e-05])
    table.show_trials(COLUMNS, later)
    table.sortByColumn(2, Qt.SortOrder.AscendingOrder)
    assert [shown_text(table, row, 2) for row in (0, 1)] == [
        ("8.26123e-05", "8.26123e-05"),
        ("0.000231617", "0.000231617"),
    ]


def test_a_section_that_is_stretched_is_not_taken_for_the_users_choice(table):
    table.show()
    for width in (700, 900, 600):
        table.resize(width, 200)
        table.grab()
    assert chosen().get("trials", {}) == {}
