"""The table of the running line."""

from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication

from gradscribe.playback.code.line_states import StateRow
from gradscribe.playback.text import formatting
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.tables.line_table import (
    MAX_ROWS,
    ROWS_PER_TURN,
    LineTable,
    gradient_text,
    value_text,
)

WEIGHT = StateRow("w1", 3, "0.5000", "0.6200", "−1.2000", "−1.2000")
FRESH = StateRow("out", 4, "", "2.0000", "—", "—")
SAME = StateRow("x", 5, "1.0000", "1.0000", "—", "—")
CLEARED = StateRow("b", 6, "1.0000", "1.0000", "3.0000", "—")


@pytest.fixture
def table(shown):
    return shown(LineTable(), 248, 400)


def test_before_and_after_stand_beside_each_other():
    assert value_text(WEIGHT) == "0.5000 → 0.6200"
    assert value_text(FRESH) == "new: 2.0000"
    assert gradient_text(CLEARED) == "grad 3.0000 → None"


def test_only_what_changes_is_written_out(table):
    table.show_line(7, "    opt.step()", (WEIGHT, FRESH, CLEARED, SAME))
    assert table.line.said() == "7  opt.step()"
    names = [row.name.said() for row in table.rows if row.isVisible()]
    assert names == ["w₁", "out", "b"]
    assert not table.rows[0].gradient.isVisible()
    assert not table.rows[2].value.isVisible()
    assert table.same.said() == "Unchanged: x"


def test_rows_come_and_go(table):
    table.show_line(7, "a", (WEIGHT, FRESH))
    table.show_line(8, "b", (SAME,))
    assert not any(row.isVisible() for row in table.rows)
    assert table.same.said() == "This line changes no tensor"
    table.show_line(0, "", ())
    assert table.same.said() == "No line has run yet"


MANY = tuple(StateRow(f"p{n}", n, "1", "2", "—", "—") for n in range(MAX_ROWS + 10))


def test_a_great_many_tensors_are_counted(table, qtbot):
    table.show_line(1, "x", MANY)
    assert table.same.said() == "and 10 others"
    qtbot.waitUntil(lambda: sum(row.isVisible() for row in table.rows) == MAX_ROWS)
    names = [row.name.said() for row in table.rows]
    assert names == [formatting.variable(row.name) for row in MANY[:MAX_ROWS]]


def test_many_rows_are_made_in_several_turns(table, qtbot):
    table.show_line(1, "x", MANY)
    assert len(table.rows) == ROWS_PER_TURN
    table.show_line(2, "y", (WEIGHT,))
    assert [row.name.said() for row in table.rows if row.isVisible()] == ["w₁"]
    counts = []
    table._rows_timer.timeout.connect(lambda: counts.append(len(table.rows)))
    table.show_line(1, "x", MANY)
    assert all(row.isVisible() for row in table.rows)
    qtbot.waitUntil(lambda: len(table.rows) == MAX_ROWS)
    assert max(b - a for a, b in pairwise(counts)) <= ROWS_PER_TURN


def test_the_buttons_and_the_rows_tell(table, qtbot):
    table.set_theme(Theme.load("dark"))
    table.show_line(7, "a", (WEIGHT,))
    with qtbot.waitSignal(table.next_pressed):
        table.forward.click()
    with qtbot.waitSignal(table.back_pressed):
        table.back.click()
    with qtbot.waitSignal(table.picked) as told:
        qtbot.mouseClick(table.rows[0], Qt.MouseButton.LeftButton)
    assert told.args == [3]


def test_rows_are_picked_by_keyboard_and_their_menu_opens_there(table, qtbot):
    table.show_line(1, "x", MANY)
    qtbot.waitUntil(lambda: sum(row.isVisible() for row in table.rows) == MAX_ROWS)
    table.resize(248, 260)
    told, menus = [], []
    table.picked.connect(told.append)
    table.menu_requested.connect(lambda at, actions: menus.append((at, actions[0].text())))
    with qtbot.waitActive(table.window()):
        table.window().activateWindow()
    table.forward.setFocus()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is table.rows[0]
    for _ in range(9):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Down)
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Up)
    row = QApplication.focusWidget()
    assert row is table.rows[8]
    assert row.visibleRegion().boundingRect() == row.rect(), "it is scrolled to"
    qtbot.keyClick(row, Qt.Key.Key_Return)
    assert told == [MANY[8].value_id]
    reason = QContextMenuEvent.Reason.Keyboard
    QApplication.sendEvent(row, QContextMenuEvent(reason, row.rect().center(), QPoint(3, 4)))
    assert menus == [(QPoint(3, 4), "Copy the row")]
    plain = row.grab().toImage()
    table.forward.setFocus()
    assert row.grab().toImage() != plain, "the focus is seen"
    table.rows[0].setFocus()
    qtbot.keyClick(table.rows[0], Qt.Key.Key_Up)
    assert QApplication.focusWidget() is table.rows[0]
