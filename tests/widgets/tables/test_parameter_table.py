"""The table of parameters: cut prefixes, order, filter, keyboard and mouse."""

import math

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from gradscribe.playback.tape.parameters import SOME, ParameterRow
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.tables.parameter_table import (
    COURSE,
    GRADIENT,
    NOT_FINITE,
    UPDATE,
    ParameterTable,
    common_prefix,
)

ROWS = (
    ParameterRow("net.a.0.weight", (4, 3), 2.0, 0.5, 0.01, 0, (1.0, 0.5)),
    ParameterRow("net.a.0.bias", (4,), 1.0, None, None, 0, ()),
    ParameterRow("net.b.weight", (2, 4), 3.0, 1e-7, 1e-9, 3, (1.0, 1e-7)),
    ParameterRow("net.b.bias", (), 0.5, math.nan, 0.2, SOME, (math.nan,)),
)


@pytest.fixture
def table(qtbot):
    # A window with a layout hands its least size to the window system, which warns offscreen.
    host = QWidget()
    qtbot.addWidget(host)
    made = ParameterTable(host)
    made.host = host
    made.resize(760, 300)
    made.set_rows(ROWS)
    host.resize(760, 300)
    host.show()
    return made


def header(table, column):
    """Return the middle of a column's heading, for a click."""
    head = table.view.horizontalHeader()
    x = head.sectionViewportPosition(column) + head.sectionSize(column) // 2
    return head.viewport(), head.viewport().rect().center().__class__(x, head.height() // 2)


def test_the_common_prefix_is_cut_and_not_the_end(table):
    shown = [table.sorted.index(at, 0).data() for at in range(4)]
    assert shown == ["a.0.weight", "a.0.bias", "b.weight", "b.bias"]
    assert table.model.headerData(0, Qt.Orientation.Horizontal) == "name (in net)"
    assert table.shown_names()[0] == "net.a.0.weight"


@pytest.mark.parametrize(
    ("names", "prefix"),
    [
        ((), ""),
        (("net.0.weight",), ""),
        (("net.0.weight", "net.0.bias"), "net.0."),
        (("net.weight", "head.weight"), ""),
        (("w", "w.b"), ""),
        (("net.1.w", "net.10.w"), "net."),
    ],
)
def test_a_prefix_is_whole_modules(names, prefix):
    assert common_prefix(names) == prefix


def test_a_click_on_a_heading_sorts_the_weakest_first(table, qtbot):
    where, point = header(table, GRADIENT)
    qtbot.mouseClick(where, Qt.MouseButton.LeftButton, pos=point)
    weakest = ["net.a.0.bias", "net.b.weight", "net.a.0.weight", "net.b.bias"]
    assert table.shown_names() in (weakest, weakest[::-1])
    before = table.shown_names()
    qtbot.mouseClick(where, Qt.MouseButton.LeftButton, pos=point)
    assert table.shown_names() == before[::-1]


@pytest.mark.parametrize(("column", "last"), [(UPDATE, 3), (NOT_FINITE, 3), (COURSE, 3)])
def test_each_column_of_numbers_sorts_by_its_numbers(table, column, last):
    table.view.sortByColumn(column, Qt.SortOrder.AscendingOrder)
    assert table.shown_names()[-1] == ROWS[last].name


def test_the_filter_finds_names_in_any_case(table, qtbot):
    qtbot.keyClicks(table.filter, "B.W")
    assert table.shown_names() == ["net.b.weight"]
    assert table.count.said() == "1 of 4"
    table.filter.clear()
    assert table.count.said() == "4 parameter tensors"


def test_numbers_that_change_keep_order_filter_and_selection(table, qtbot):
    qtbot.keyClicks(table.filter, "a.0")
    table.view.selectRow(1)
    changed = tuple(ParameterRow(row.name, row.shape, 9.0, 1.0, 0.1, 0, (1.0,)) for row in ROWS)
    table.set_rows(changed)
    assert table.shown_names() == ["net.a.0.weight", "net.a.0.bias"]
    assert [index.row() for index in table.view.selectionModel().selectedRows()] == [1]
    assert table.sorted.index(0, 2).data() == "9.0000"


def test_mouse_and_keyboard_pick_a_parameter(table, qtbot):
    table.view.setFocus()
    with qtbot.waitSignal(table.picked) as heard:
        point = table.view.visualRect(table.sorted.index(2, 0)).center()
        qtbot.mouseClick(table.view.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert heard.args == ["net.b.weight"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [(760, 300), (300, 120)])
def test_it_is_painted_in_both_themes_and_a_narrow_column(table, theme, size):
    table.set_theme(Theme.load(theme))
    table.resize(*size)
    picture = table.grab().toImage()
    seen = {
        picture.pixel(x, y) for x in range(0, picture.width(), 2) for y in range(picture.height())
    }
    assert Theme.load(theme).backward.rgb() in seen or size[0] < 400
    assert table.view.columnWidth(0) >= 150


def test_the_filter_leads_to_the_table_and_return_picks_the_first_found(table, qtbot):
    table.filter.setFocus()
    QTest.keyClicks(table.filter, "b.weight")
    with qtbot.waitSignal(table.picked) as caught:
        QTest.keyClick(table.filter, Qt.Key.Key_Return)
    assert caught.args == ["net.b.weight"]
    QTest.keyClick(table.filter, Qt.Key.Key_Down)
    assert table.host.focusWidget() is table.view
    with qtbot.waitSignal(table.picked):
        QTest.keyClick(table.view, Qt.Key.Key_Return)


def test_no_parameters_are_said(table):
    table.set_rows(())
    assert table.count.said() == "No parameters yet"


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_menu_of_a_row_copies_and_shows_it(table):
    picked = []
    table.picked.connect(picked.append)
    view = table.view
    at = view.visualRect(table.sorted.index(2, 0)).center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, view.viewport().mapToGlobal(at))
    QApplication.sendEvent(view.viewport(), event)
    menu = QApplication.activePopupWidget()
    entries = {action.text(): action for action in menu.actions()}
    menu.close()
    assert picked == []
    entries["Copy the row"].trigger()
    assert QGuiApplication.clipboard().text().split("\t")[:2] == ["net.b.weight", "2 × 4"]
    entries["Copy the table"].trigger()
    assert len(QGuiApplication.clipboard().text().split("\n")) == 1 + len(ROWS)
    entries["Show in the graph"].trigger()
    assert picked == ["net.b.weight"]
