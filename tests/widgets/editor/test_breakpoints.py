"""Breakpoints in the gutter: set and removed by real clicks, and moved by real typing."""

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor import breakpoints
from gradscribe.widgets.editor.code_edit import CodeEdit
from gradscribe.widgets.editor.gutter import Gutter

TEXT = "\n".join(f"line{k} = {k}" for k in range(1, 9))


@pytest.fixture(params=["light", "dark"])
def edit(qtbot, request):
    edit = CodeEdit(Theme.load(request.param))
    qtbot.addWidget(edit)
    edit.resize(400, 300)
    edit.show()
    edit.set_source(TEXT, fresh=True)
    edit.setFocus()
    edit.grab()
    return edit


def click(edit, line, x=10):
    row = next(row for row in edit.rows() if row.line == line)
    at = QPoint(x, int(row.middle))
    QTest.mouseClick(edit.findChild(Gutter), Qt.MouseButton.LeftButton, pos=at)
    edit.grab()


def put_caret(edit, line, column=0):
    edit.go_to_line(line, column)


def test_65_a_click_in_the_margin_sets_and_removes_a_breakpoint(edit):
    heard, picked = [], []
    edit.breakpoints.changed.connect(heard.append)
    edit.line_picked.connect(picked.append)
    click(edit, 3)
    click(edit, 5)
    click(edit, 3)
    assert heard == [(3,), (3, 5), (5,)]
    assert edit.breakpoints.lines() == (5,)
    assert picked == []


def test_a_click_on_a_number_still_goes_to_its_line(edit):
    picked = []
    edit.line_picked.connect(picked.append)
    click(edit, 3, x=breakpoints.SPACE + 3)
    assert picked == [3]
    assert edit.breakpoints.lines() == ()


def test_the_margin_shows_a_full_and_a_hollow_mark(edit):
    click(edit, 2)
    click(edit, 4)
    edit.breakpoints.set_reached(frozenset({2}))
    edit.grab()
    gutter = edit.findChild(Gutter)
    image = edit.grab().toImage()
    theme = edit.look.theme

    def middle(line):
        row = next(row for row in edit.rows() if row.line == line)
        x = gutter.x() + int(breakpoints.MIDDLE)
        return image.pixelColor(x, int(row.middle) + edit.viewport().y())

    assert middle(2) == theme.selection
    assert middle(4) == theme.panel
    assert middle(6) == theme.panel


def test_the_mouse_in_the_margin_shows_where_a_click_sets_one(edit):
    gutter = edit.findChild(Gutter)
    row = edit.rows()[5]
    before = gutter.grab().toImage()
    QTest.mouseMove(gutter, QPoint(10, int(row.middle)))
    during = gutter.grab().toImage()
    QTest.mouseMove(gutter, QPoint(breakpoints.SPACE + 4, int(row.middle)))
    assert gutter.grab().toImage() != during
    assert before != during


@pytest.mark.qt_log_ignore("does not support raise", extend=True)
def test_its_tooltip_says_what_a_click_does(edit):
    gutter = edit.findChild(Gutter)
    row = edit.rows()[2]
    at = QPoint(10, int(row.middle))
    texts = []
    for _ in range(2):
        QToolTip.hideText()
        event = QHelpEvent(QEvent.Type.ToolTip, at, gutter.mapToGlobal(at))
        QApplication.sendEvent(gutter, event)
        texts.append(QToolTip.text())
        click(edit, 3)
    QToolTip.hideText()
    assert texts == [breakpoints.SET, breakpoints.NOT_REACHED]


def test_65_breakpoints_follow_typing(edit):
    click(edit, 3)
    click(edit, 6)
    put_caret(edit, 3)
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert edit.breakpoints.lines() == (4, 7)
    put_caret(edit, 1)
    QTest.keyClicks(edit, "import torch")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert edit.breakpoints.lines() == (5, 8)
    QTest.keyClick(edit, Qt.Key.Key_Backspace)
    assert edit.breakpoints.lines() == (4, 7)


def test_65_a_removed_line_takes_its_breakpoint_along(edit):
    click(edit, 3)
    click(edit, 4)
    put_caret(edit, 3)
    QTest.keyClick(edit, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(edit, Qt.Key.Key_Delete)
    assert edit.source().split("\n")[2] == "line4 = 4"
    assert edit.breakpoints.lines() == (3,)


def test_a_line_joined_to_the_line_above_gives_its_breakpoint_up(edit):
    click(edit, 3)
    put_caret(edit, 3)
    QTest.keyClick(edit, Qt.Key.Key_Backspace)
    assert edit.breakpoints.lines() == ()


def test_65_a_changed_text_from_elsewhere_keeps_them_at_their_lines(edit):
    click(edit, 3)
    click(edit, 7)
    edit.set_source("# first\n" + TEXT.replace("line5 = 5\n", ""))
    assert edit.breakpoints.lines() == (4, 7)


def test_a_rebuilt_history_keeps_them(edit):
    click(edit, 3)
    QTest.keyClicks(edit, "a")
    heard = []
    edit.breakpoints.changed.connect(heard.append)
    edit.restore(edit.source(), edit.history.steps, edit.history.done)
    assert edit.breakpoints.lines() == (3,)
    assert heard == []


def test_lines_that_do_not_exist_get_none(edit):
    edit.breakpoints.set_lines((0, -3, 2, 99))
    assert edit.breakpoints.lines() == (2,)


def test_a_removed_program_has_none(edit):
    click(edit, 3)
    edit.selectAll()
    QTest.keyClick(edit, Qt.Key.Key_Delete)
    assert edit.breakpoints.lines() == ()
