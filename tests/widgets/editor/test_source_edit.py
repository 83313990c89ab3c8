import time

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QKeyEvent, QMouseEvent, QTextCursor, QWheelEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor.source_edit import SourceEdit

CONTROL = Qt.KeyboardModifier.ControlModifier
NONE = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def edit(qtbot):
    edit = SourceEdit(Theme.load("light"))
    qtbot.addWidget(edit)
    edit.resize(400, 300)
    edit.show()
    return edit


@pytest.fixture
def heard(edit):
    """Return the list of texts that the editor told of."""
    found = []
    edit.edited.connect(found.append)
    return found


def paste(edit, text):
    mime = QMimeData()
    mime.setText(text)
    QGuiApplication.clipboard().setMimeData(mime)
    edit.paste()


def test_typing_tells_of_every_change(qtbot, edit, heard):
    qtbot.keyClicks(edit, "x=1")
    assert heard == ["x", "x=", "x=1"]


def test_a_text_that_is_set_is_not_told_of(edit, heard):
    edit.set_source("a = 1\n")
    edit.set_source("a = 2\n")
    edit.set_source("", fresh=True)
    assert heard == []


def test_new_colours_and_sizes_are_no_edits(edit, heard):
    edit.set_source("a = f(1)\n" * 50)
    edit.set_theme(Theme.load("dark"))
    edit.set_text_size(20)
    assert heard == []


def test_undo_and_redo_are_edits(qtbot, edit, heard):
    edit.set_source("a")
    edit.go_to_line(1, 1)
    qtbot.keyClicks(edit, "b")
    qtbot.keyClick(edit, Qt.Key.Key_Z, CONTROL)
    edit.redo()
    assert heard == ["ab", "a", "ab"]


@pytest.mark.parametrize(
    "text",
    ["", "a", "a\n", "\n\n", "s = 'a\u00a0b'", "日本 = '😀'", "a\tb", "x" * 10_000, "  \n  "],
)
def test_the_text_comes_back_as_it_was_set(edit, text):
    edit.set_source(text)
    assert edit.source() == text


def test_windows_line_ends_are_read_as_newlines(edit):
    edit.set_source("a\r\nb\rc")
    assert edit.source() == "a\nb\nc"


def test_the_first_text_cannot_be_undone_away(edit):
    edit.set_source("a = 1")
    edit.undo()
    assert edit.source() == "a = 1"


def test_a_text_that_is_set_over_another_can_be_undone(edit):
    edit.set_source("a = 1\nb = 2\nc = 3")
    edit.set_source("a = 10\nb = 2\nc = 30")
    edit.undo()
    assert edit.source() == "a = 1\nb = 2\nc = 3"
    edit.redo()
    assert edit.source() == "a = 10\nb = 2\nc = 30"


def test_what_was_typed_before_another_text_was_set_can_still_be_undone(qtbot, edit):
    edit.set_source("a = 1\n")
    qtbot.keyClicks(edit, "z")
    edit.set_source("za = 2\n")
    edit.undo()
    edit.undo()
    assert edit.source() == "a = 1\n"


def test_a_fresh_text_begins_a_new_history(qtbot, edit):
    edit.set_source("a")
    qtbot.keyClicks(edit, "z")
    edit.set_source("other", fresh=True)
    assert not edit.document().isUndoAvailable()


def test_the_caret_keeps_its_letter_when_other_lines_change(edit):
    edit.set_source("a = 1\nb = 2\nc = 3")
    edit.go_to_line(2, 3)
    edit.set_source("# new\n# lines\na = 100\nb = 2\nc = 30")
    cursor = edit.textCursor()
    assert (cursor.blockNumber(), cursor.positionInBlock()) == (3, 3)


def test_a_selection_keeps_its_text_when_other_text_changes(edit):
    edit.set_source("aa\nbb\ncc")
    cursor = edit.textCursor()
    cursor.setPosition(3)
    cursor.setPosition(5, cursor.MoveMode.KeepAnchor)
    edit.setTextCursor(cursor)
    edit.set_source("aaaa\nbb\nc")
    assert edit.textCursor().selectedText() == "bb"


def test_under_quite_another_text_the_caret_stays_near_where_it_was(edit):
    edit.set_source("a = 1\nb = 2")
    edit.go_to_line(1, 0)
    edit.set_source("\n".join(f"x{i}" for i in range(100)))
    assert edit.textCursor().position() == 0
    edit.go_to_line(100, 0)
    edit.set_source("q")
    assert edit.textCursor().position() <= 1


def test_the_view_stays_where_it_is_when_other_lines_change(edit):
    source = "\n".join(f"a{i} = {i}" for i in range(200))
    edit.set_source(source)
    edit.verticalScrollBar().setValue(100)
    edit.set_source(source.replace("a150 = 150", "a150 = 7"))
    assert edit.verticalScrollBar().value() == 100


def test_a_text_with_emoji_is_rewritten_at_the_right_places(edit):
    edit.set_source("s = '😀😀'\nb = 1\n日 = '😀'")
    edit.set_source("s = '😀😀!'\nb = 22\n日 = '😀' + s")
    assert edit.source() == "s = '😀😀!'\nb = 22\n日 = '😀' + s"
    edit.undo()
    assert edit.source() == "s = '😀😀'\nb = 1\n日 = '😀'"


def test_pasted_text_is_cleaned(edit):
    paste(edit, "if\u00a0x:\r\n\ty = “a”\u200b")
    assert edit.source() == 'if x:\n    y = "a"'


def test_a_paste_replaces_the_selection_and_is_one_step(edit):
    edit.set_source("a = old")
    edit.selectAll()
    paste(edit, "b = 1\nc = 2")
    assert edit.source() == "b = 1\nc = 2"
    edit.undo()
    assert edit.source() == "a = old"


def test_a_line_that_would_hold_the_window_up_is_not_pasted(edit, qtbot):
    edit.set_source("a = old")
    with qtbot.waitSignal(edit.refused) as told:
        paste(edit, "x = '" + "long " * 20_000 + "'")
    assert "line 1 has 100,006 characters" in told.args[0]
    assert edit.source() == "a = old"


def test_files_are_left_to_the_window(edit):
    mime = QMimeData()
    mime.setUrls([QUrl("file:///a.py")])
    assert not edit.canInsertFromMimeData(mime)


def test_a_non_breaking_space_from_the_keyboard_is_a_space(edit):
    for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
        QApplication.sendEvent(edit, QKeyEvent(kind, Qt.Key.Key_Space, NONE, "\u00a0"))
    assert edit.source() == " "


def wheel(edit, turn, modifiers):
    at = QPointF(50, 50)
    happening = QWheelEvent(
        *(at, edit.mapToGlobal(at), QPoint(), QPoint(0, turn)),
        *(Qt.MouseButton.NoButton, modifiers, Qt.ScrollPhase.NoScrollPhase, False),
    )
    QApplication.sendEvent(edit.viewport(), happening)


def test_control_and_wheel_change_the_text_size(edit):
    sizes = []
    edit.text_size_changed.connect(sizes.append)
    wheel(edit, 120, CONTROL)
    wheel(edit, -60, CONTROL)
    wheel(edit, -60, CONTROL)
    assert sizes == [14, 13]


def test_the_text_size_stays_readable(edit):
    edit.set_text_size(1000)
    assert edit.look.px < 100
    edit.set_text_size(-5)
    assert edit.look.px > 5


def test_bigger_text_has_bigger_rows(edit):
    edit.set_source("a\nb")
    before = edit.rows()[0].height
    edit.set_text_size(26)
    assert edit.rows()[0].height == pytest.approx(2 * before, abs=1)


def test_rows_of_the_usual_size_are_as_high_as_in_the_design(edit):
    edit.set_source("a\nb\nc")
    first, second, third = edit.rows()
    assert second.top - first.top == third.top - second.top == first.height
    assert first.height == pytest.approx(24.5, abs=1)


def test_a_style_sheet_of_the_window_does_not_take_the_code_font(qtbot):
    window = QWidget()
    window.setStyleSheet('QWidget { font-family: "Sans Serif"; font-size: 31px; }')
    edit = SourceEdit(Theme.load("light"), window)
    qtbot.addWidget(window)
    window.show()
    edit.set_source("a")
    assert edit.document().defaultFont().pixelSize() == 13
    assert edit.document().defaultFont().families() == edit.look.font.families()


def test_a_click_between_two_lines_sets_the_caret_where_the_letter_is(qtbot, edit):
    edit.set_source("abcdef\nabcdef")
    row = edit.rows()[1]
    x = (edit.look.metrics.horizontalAdvance("abc")) + edit.document().documentMargin()
    for y in (row.top + 1, row.middle, row.bottom - 1):
        edit.go_to_line(1)
        at = QPointF(x, y)
        press = QMouseEvent(
            *(QEvent.Type.MouseButtonPress, at, edit.viewport().mapToGlobal(at)),
            *(Qt.MouseButton.LeftButton, Qt.MouseButton.LeftButton, NONE),
        )
        snapped = edit.snapped(press)
        position = edit.cursorForPosition(snapped.position().toPoint())
        assert (position.blockNumber(), position.positionInBlock()) == (1, 3)


def test_lines_tell_when_they_move(qtbot, edit):
    moves = []
    edit.lines_moved.connect(lambda first, change: moves.append((first, change)))
    edit.set_source("a\nb\nc", fresh=True)
    moves.clear()
    edit.go_to_line(2, 0)
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    qtbot.keyClick(edit, Qt.Key.Key_Backspace)
    edit.go_to_line(2, 1)
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert [first for first, _ in moves] == [2, 2, 3]
    assert [change for _, change in moves] == [1, -1, 1]


def test_tab_stays_in_the_editor_but_leaves_it_after_escape(qtbot):
    window = QWidget()
    edit, other = SourceEdit(Theme.load("light"), window), QLineEdit(window)
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    edit.setFocus()
    qtbot.keyClick(edit, Qt.Key.Key_Tab)
    assert edit.source() == "    "
    qtbot.keyClick(edit, Qt.Key.Key_Escape)
    qtbot.keyClick(edit, Qt.Key.Key_Tab)
    assert edit.source() == "    "
    assert window.focusWidget() is other


def test_a_read_only_editor_is_not_changed_by_its_keys(qtbot, edit):
    edit.set_source("if a:")
    edit.setReadOnly(True)
    for key in (Qt.Key.Key_Tab, Qt.Key.Key_Return, Qt.Key.Key_Backspace):
        qtbot.keyClick(edit, key)
    qtbot.keyClick(edit, Qt.Key.Key_Slash, CONTROL)
    assert edit.source() == "if a:"


def test_the_editors_own_keys_go_before_the_windows_shortcuts(edit):
    press = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Slash, CONTROL)
    press.ignore()
    QApplication.sendEvent(edit, press)
    assert press.isAccepted()


def test_going_to_a_line_that_is_not_there_goes_to_the_nearest(edit):
    edit.set_source("a\nb")
    edit.go_to_line(99, 99)
    assert edit.textCursor().atEnd()
    edit.go_to_line(-3)
    assert edit.textCursor().position() == 0


def test_five_thousand_lines_stay_quick(edit):
    source = "\n".join(f"a{i} = f({i}.5)  # note" for i in range(5000))
    edit.set_source(source)
    edit.grab()
    cursor = QTextCursor(edit.document().findBlockByNumber(2500))
    edit.setTextCursor(cursor)

    def once():
        start = time.perf_counter()
        edit.textCursor().insertText("x")
        edit.grab()
        return time.perf_counter() - start

    assert min(once() for _ in range(5)) < 0.1


def test_a_very_long_line_can_be_edited(qtbot, edit):
    edit.set_source("x = [" + "1.5, " * 2000 + "]")
    edit.go_to_line(1, 99_999)
    qtbot.keyClicks(edit, "#")
    edit.grab()
    assert edit.source().endswith("]#")


def test_a_program_without_line_ends_gets_them_back_where_it_stands_alone(edit):
    edit.set_source("")
    paste(edit, "x = param(2.0) y = x ** 2 y.backward()")
    assert edit.source() == "x = param(2.0)\ny = x ** 2\ny.backward()\n"
    edit.undo()
    assert edit.source() == ""
    edit.set_source("z = ")
    edit.set_caret(4, 4)
    paste(edit, "f(1) g(2)")
    assert edit.source() == "z = f(1) g(2)"
