import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QPlainTextEdit

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor import line_layout
from gradscribe.widgets.editor.line_layout import SpacedLayout
from gradscribe.widgets.editor.style import EditorStyle

GAP = 9.0


@pytest.fixture
def edit(qtbot):
    edit = QPlainTextEdit()
    qtbot.addWidget(edit)
    edit.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    edit.spaced = SpacedLayout(edit.document(), GAP)
    edit.document().setDocumentLayout(edit.spaced)
    edit.resize(300, 200)
    edit.show()
    return edit


def test_rows_touch_and_are_higher_than_the_text_by_the_gap(edit):
    edit.setPlainText("a\n\nc")
    rows = list(line_layout.visible_rows(edit, GAP))
    assert [row.line for row in rows] == [1, 2, 3]
    line = edit.document().firstBlock().layout().lineAt(0)
    assert all(row.height == line.height() + GAP for row in rows)
    assert rows[0].bottom == pytest.approx(rows[1].top)
    assert rows[1].bottom == pytest.approx(rows[2].top)


def test_text_stands_in_the_middle_of_its_row(edit):
    edit.setPlainText("a\nb")
    row = list(line_layout.visible_rows(edit, GAP))[1]
    caret = edit.textCursor()
    caret.setPosition(2)
    assert edit.cursorRect(caret).center().y() == pytest.approx(row.middle, abs=1.5)


def test_rows_keep_their_height_when_their_text_changes(edit):
    edit.setPlainText("a\nb\nc")
    before = [row.top for row in line_layout.visible_rows(edit, GAP)]
    caret = edit.textCursor()
    for _ in range(3):
        caret.insertText("xyz")
        caret.deletePreviousChar()
    assert [row.top for row in line_layout.visible_rows(edit, GAP)] == before


def test_only_visible_rows_are_given(edit):
    edit.setPlainText("\n".join("abc" for _ in range(500)))
    edit.verticalScrollBar().setValue(100)
    rows = list(line_layout.visible_rows(edit, GAP))
    assert rows[0].line == 101
    assert len(rows) < 30


def test_text_ends_where_its_last_letter_does(edit):
    edit.setPlainText("abc\nabcdef")
    first, second = line_layout.visible_rows(edit, GAP)
    left, right = line_layout.span_x(edit, edit.document().lastBlock(), 0, 6)
    assert second.text_end == pytest.approx(right, abs=1.5)
    assert first.text_end < second.text_end
    assert left == pytest.approx(edit.document().documentMargin())


@pytest.mark.parametrize("text", ["abc", "a\tb", "日本語", "s = '😀x'"])
def test_every_character_is_found_where_it_is_painted(edit, text):
    edit.setPlainText(text)
    block = edit.document().firstBlock()
    for column in range(len(text)):
        left, right = line_layout.span_x(edit, block, column, column + 1)
        if right > left + 1:
            assert line_layout.column_at(edit, block, (left + right) / 2) == column


def test_a_character_made_of_several_is_found_as_one_of_them(edit):
    edit.setPlainText("👩\u200d🔬 = 1")
    block = edit.document().firstBlock()
    left, right = line_layout.span_x(edit, block, 0, 3)
    assert line_layout.column_at(edit, block, (left + right) / 2) in (0, 1, 2)


def test_beside_the_text_there_is_no_character(edit):
    edit.setPlainText("abc\n")
    block = edit.document().firstBlock()
    assert line_layout.column_at(edit, block, 250) is None
    assert line_layout.column_at(edit, block, 0) is None
    assert line_layout.column_at(edit, block.next(), 5) is None


def test_the_words_of_an_empty_editor_stand_where_its_first_line_will(edit):
    row = next(line_layout.visible_rows(edit, GAP))
    caret = edit.cursorRect()
    picture = QImage(edit.viewport().size(), QImage.Format.Format_RGB32)
    picture.fill(Qt.GlobalColor.white)
    painter = QPainter(picture)
    try:
        style = EditorStyle(Theme.load("light"), 13)
        line_layout.paint_placeholder(painter, edit, row, "HHHH", style)
    finally:
        painter.end()
    white = QColor(Qt.GlobalColor.white).rgb()
    inked = [
        (x, y)
        for y in range(picture.height())
        for x in range(picture.width())
        if picture.pixel(x, y) != white
    ]
    assert inked
    left, top = min(x for x, _ in inked), min(y for _, y in inked)
    bottom = max(y for _, y in inked)
    assert caret.top() <= top
    assert bottom <= caret.bottom() + 1
    assert abs(left - caret.center().x()) <= 4
