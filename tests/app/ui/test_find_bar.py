"""The search line: on, back, around the ends."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from gradscribe.app.ui.find_bar import FindBar


@pytest.fixture
def bar(qtbot):
    over = QWidget()
    qtbot.addWidget(over)
    over.show()
    editor = QPlainTextEdit("grad\nx.grad\nGRAD\n", over)
    made = FindBar(editor, over)
    made.over = over
    made.editor = editor
    return made


def line(bar):
    return bar.editor.textCursor().blockNumber()


def test_it_counts_and_goes_round(bar, qtbot):
    bar.open()
    qtbot.keyClicks(bar.query, "grad")
    assert bar.count.text() == "3 found"
    seen = [line(bar)]
    for _ in range(3):
        qtbot.keyClick(bar.query, Qt.Key.Key_Return)
        seen.append(line(bar))
    assert seen == [0, 1, 2, 0]


def test_shift_return_goes_back(bar, qtbot):
    bar.open()
    qtbot.keyClicks(bar.query, "grad")
    qtbot.keyClick(bar.query, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert line(bar) == 2


def test_it_starts_with_the_selected_word(bar):
    bar.editor.selectAll()
    bar.open()
    assert bar.query.text() == ""
    cursor = bar.editor.textCursor()
    cursor.setPosition(5)
    cursor.setPosition(6, cursor.MoveMode.KeepAnchor)
    bar.editor.setTextCursor(cursor)
    bar.open()
    assert bar.query.text() == "x"


def test_nothing_found_says_so_and_escape_hides(bar, qtbot):
    bar.open()
    qtbot.keyClicks(bar.query, "zzz")
    assert bar.count.text() == "0 found"
    qtbot.keyClick(bar.query, Qt.Key.Key_Escape)
    assert not bar.isVisible()
