"""Menus of rows: by mouse of the row under it, by keyboard of the current one."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QMenu, QTreeWidget, QTreeWidgetItem, QWidget

from gradscribe.widgets.base import menus

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
KEYBOARD, MOUSE = QContextMenuEvent.Reason.Keyboard, QContextMenuEvent.Reason.Mouse


@pytest.fixture
def rows(shown):
    """A tree of 60 rows, of which a few are in sight."""
    tree = QTreeWidget()
    tree.setColumnCount(2)
    tree.addTopLevelItems([QTreeWidgetItem([f"row {n}", f"{n}"]) for n in range(60)])
    return shown(tree, 300, 160)


def ask(widget, reason, at=None):
    """Request a menu as Qt does; without a place as for a key: in the middle of the widget."""
    at = at or widget.rect().center()
    QApplication.sendEvent(widget, QContextMenuEvent(reason, at, widget.mapToGlobal(at)))
    menu = QApplication.activePopupWidget()
    if not isinstance(menu, QMenu):
        return None
    menu.close()
    return menu


def by_title(menu):
    return {action.text(): action for action in menu.actions()}


@pytest.mark.parametrize("row", [0, 2, 59])
def test_by_keyboard_it_is_the_menu_of_the_current_row_at_that_row(rows, row):
    asked = []
    menus.RowMenu(rows, lambda index, at: asked.append((index.row(), at)))
    rows.setCurrentItem(rows.topLevelItem(row))
    rows.verticalScrollBar().setValue(0)
    ask(rows, KEYBOARD)
    ((found, at),) = asked
    assert found == row
    inside = rows.viewport().mapFromGlobal(at)
    assert rows.viewport().rect().contains(inside)
    assert rows.indexAt(inside).row() == row, "the row is scrolled to"


def test_without_a_current_row_the_first_has_it_and_an_empty_list_has_none(rows):
    asked = []
    menus.RowMenu(rows, lambda index, at: asked.append(index.row()))
    rows.setCurrentItem(None)
    ask(rows, KEYBOARD)
    assert asked == [0]
    rows.clear()
    ask(rows, KEYBOARD)
    ask(rows.viewport(), MOUSE)
    assert asked == [0]


def test_by_mouse_it_is_the_menu_of_the_row_under_it(rows):
    asked = []
    menus.RowMenu(rows, lambda index, at: asked.append((index.row(), at)))
    place = rows.visualItemRect(rows.topLevelItem(3)).center()
    ask(rows.viewport(), MOUSE, place)
    assert asked == [(3, rows.viewport().mapToGlobal(place))]
    ask(rows, MOUSE, QPoint(3, 3))
    assert len(asked) == 1, "the header has none"


def test_rows_are_copied_with_tabs_between_their_cells(rows):
    done = []
    menus.offer_copies(rows, ("Do it", lambda: done.append(rows.currentItem().text(0))))
    place = rows.visualItemRect(rows.topLevelItem(2)).center()
    entries = by_title(ask(rows.viewport(), MOUSE, place))
    assert list(entries) == ["Do it", "", "Copy the row", "Copy the table"]
    entries["Do it"].trigger()
    assert done == ["row 2"]
    entries["Copy the row"].trigger()
    assert QGuiApplication.clipboard().text() == "row 2\t2"
    entries["Copy the table"].trigger()
    whole = "\n".join(f"row {n}\t{n}" for n in range(60))
    assert QGuiApplication.clipboard().text() == whole


def test_another_role_is_copied_where_the_shown_text_is_rounded(rows):
    rows.topLevelItem(0).setData(1, Qt.ItemDataRole.UserRole, 0.125)
    menus.offer_copies(rows, role=Qt.ItemDataRole.UserRole)
    rows.setCurrentItem(rows.topLevelItem(0))
    by_title(ask(rows, KEYBOARD))["Copy the row"].trigger()
    assert QGuiApplication.clipboard().text() == "\t0.125"


def test_a_menu_is_at_the_mouse_or_in_the_middle(qtbot):
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.resize(200, 100)
    at, elsewhere = QPoint(7, 9), QPoint(700, 900)
    assert menus.place_in(widget, QContextMenuEvent(MOUSE, at, elsewhere)) == elsewhere
    asked = QContextMenuEvent(KEYBOARD, QPoint(), elsewhere)
    assert menus.place_in(widget, asked) == widget.mapToGlobal(widget.rect().center())
