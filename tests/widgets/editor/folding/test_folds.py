"""Blocks are folded and unfolded by mouse and keys, and nothing is lost under a fold."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtTest import QTest

from gradscribe.engine.protocol.tape import Place, Problem
from gradscribe.playback.code.lines import LineMark
from gradscribe.widgets.editor.gutter import Gutter
from tests.widgets.editor.folding.conftest import SOURCE

ALL = list(range(1, SOURCE.count("\n") + 2))


def click_sign(edit, line):
    gutter = edit.findChild(Gutter)
    row = next(row for row in edit.rows() if row.line == line)
    QTest.mouseClick(
        gutter, Qt.MouseButton.LeftButton, pos=QPoint(gutter.width() - 6, int(row.middle))
    )


def put_caret(edit, line, column=0):
    cursor = edit.textCursor()
    cursor.setPosition(edit.document().findBlockByNumber(line - 1).position() + column)
    edit.setTextCursor(cursor)


def test_the_sign_in_the_gutter_folds_a_block_and_opens_it(edit, shown):
    click_sign(edit, 9)
    assert shown() == [n for n in ALL if n not in range(10, 14)]
    assert edit.source() == SOURCE
    click_sign(edit, 9)
    assert shown() == ALL


def test_a_click_on_the_number_does_not_fold(edit, shown):
    gutter = edit.findChild(Gutter)
    row = next(row for row in edit.rows() if row.line == 9)
    QTest.mouseClick(gutter, Qt.MouseButton.LeftButton, pos=QPoint(4, int(row.middle)))
    assert shown() == ALL


def test_the_chip_says_how_much_is_hidden_and_opens_it(edit, shown):
    click_sign(edit, 17)
    shown()
    chip = edit.folds.chips[17]
    QTest.mouseClick(edit.viewport(), Qt.MouseButton.LeftButton, pos=chip.center().toPoint())
    assert shown() == ALL


def test_the_innermost_block_at_the_caret_is_folded_then_the_next(edit, shown):
    put_caret(edit, 11)
    edit.folds.fold_at_caret()
    assert 11 not in shown()
    assert 12 in shown()
    edit.folds.fold_at_caret()
    assert shown()[8:10] == [9, 14]
    edit.folds.unfold_at_caret()
    assert 10 in shown()
    assert 11 not in shown(), "a fold inside stays folded"


def test_all_are_folded_and_unfolded(edit, shown):
    edit.folds.fold_all()
    assert shown() == [1, 2, 3, 4, 14, 15, 16, 17, 22, 23, 24]
    assert edit.folds.lines() == [4, 17]
    edit.folds.unfold_all()
    assert shown() == ALL


@pytest.mark.parametrize("key", [Qt.Key.Key_Down, Qt.Key.Key_Right])
def test_the_caret_steps_over_a_fold(edit, shown, key):
    put_caret(edit, 4, len("class Net(torch.nn.Module):"))
    edit.folds.toggle(4)
    QTest.keyClick(edit, key)
    assert edit.textCursor().blockNumber() + 1 == 14
    assert 5 not in shown()
    if key == Qt.Key.Key_Right:
        QTest.keyClick(edit, Qt.Key.Key_Left)
        assert edit.textCursor().blockNumber() + 1 == 4
        assert edit.textCursor().atBlockEnd()
        assert 5 not in shown()


def test_a_caret_inside_moves_to_the_end_of_the_header(edit):
    put_caret(edit, 7, 3)
    edit.folds.toggle(4)
    assert edit.textCursor().block().text() == "class Net(torch.nn.Module):"
    assert edit.textCursor().atBlockEnd()


def test_typing_elsewhere_keeps_the_fold_and_undo_keeps_the_text(edit, shown):
    edit.folds.toggle(4)
    put_caret(edit, 1)
    QTest.keyClicks(edit, "# ")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert edit.folds.lines() == [5]
    QTest.keyClick(edit, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(edit, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert edit.source() == SOURCE
    assert edit.folds.lines() == [4]


def test_a_header_that_is_no_header_any_more_opens_its_block(edit, shown):
    edit.folds.toggle(17)
    put_caret(edit, 17)
    for _ in range(4):
        QTest.keyClick(edit, Qt.Key.Key_Delete)
    assert shown() == ALL


def test_undo_of_a_change_that_is_hidden_shows_it(edit, shown):
    put_caret(edit, 18)
    QTest.keyClicks(edit, "    a = 1")
    edit.folds.toggle(17)
    assert 18 not in shown()
    QTest.keyClick(edit, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert 18 in shown()


def test_backspace_after_a_fold_does_not_join_what_is_not_seen(edit, shown):
    edit.folds.toggle(17)
    put_caret(edit, 22)
    QTest.keyClick(edit, Qt.Key.Key_Backspace)
    assert 21 in shown(), "the line that was joined is seen"


def test_a_copied_selection_over_a_fold_has_the_hidden_lines(edit):
    edit.folds.toggle(17)
    put_caret(edit, 17)
    cursor = edit.textCursor()
    cursor.setPosition(edit.document().findBlockByNumber(22).position(), QTextCursor.KeepAnchor)
    edit.setTextCursor(cursor)
    edit.copy()
    copied = QGuiApplication.clipboard().text()
    assert copied == "".join(SOURCE.splitlines(keepends=True)[16:22])


def test_the_line_that_plays_is_never_hidden(edit, shown):
    edit.folds.fold_all()
    edit.set_playing_line(11, "forward")
    assert 11 in shown()
    refused = []
    edit.refused.connect(refused.append)
    edit.folds.toggle(9)
    assert 11 in shown()
    assert refused == ["This block stays open: the line that plays is in it"]


def test_an_error_opens_the_fold_that_hides_it(edit, shown):
    edit.folds.fold_all()
    edit.set_problem(Problem("ValueError", "no", place=Place(21, 4, 21, 19)))
    assert 21 in shown()
    assert 5 not in shown()


def test_select_all_and_replace_with_folds_loses_nothing(edit, shown):
    edit.folds.fold_all()
    QTest.keyClick(edit, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert edit.textCursor().selectedText().count("\u2029") == SOURCE.count("\n")
    QTest.keyClicks(edit, "x")
    assert edit.source() == "x"
    QTest.keyClick(edit, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert edit.source() == SOURCE


def test_another_program_has_no_folds(edit, shown):
    edit.folds.fold_all()
    edit.set_source("for k in range(3):\n    print(k)\n")
    assert shown() == [1, 2, 3]


def test_many_blocks_fold_and_open_again(edit, shown):
    source = "".join(f"def f{k}():\n    return {k}\n" for k in range(2000))
    edit.set_source(source)
    edit.folds.fold_all()
    assert len(edit.folds.lines()) == 2000
    assert shown()[:3] == [1, 3, 5]
    edit.folds.unfold_all()
    assert shown()[:3] == [1, 2, 3]
    assert edit.source() == source


def test_a_caret_that_is_put_into_a_fold_opens_it(edit, shown):
    edit.folds.fold_all()
    put_caret(edit, 11)
    assert 11 in shown()
    assert 18 not in shown()


def test_marks_of_hidden_lines_are_not_painted(edit, shown):
    edit.set_marks(
        {
            18: LineMark(18, "loss", "1.5", "", reached=True),
            23: LineMark(23, "loss", "2.5", "", reached=True),
        }
    )
    edit.folds.fold_all()
    shown()
    assert [mark.line for mark in edit._placed] == [23]


def test_a_rebuilt_history_keeps_the_folds(edit, shown):
    edit.folds.fold_all()
    edit.compact_history()
    assert edit.folds.lines() == [4, 17]
    assert edit.source() == SOURCE
