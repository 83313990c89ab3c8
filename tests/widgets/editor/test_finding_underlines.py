"""Marks of findings stay with their text."""

import pytest
from PySide6.QtCore import QPoint

from gradscribe.engine.protocol.tape import Finding, Place
from gradscribe.widgets.editor.code_edit import CodeEdit


@pytest.fixture
def editor(shown):
    made = shown(CodeEdit(), 420, 300)
    made.set_source("a = 1\nbé = a + a\nc = bé\n")
    made.findings.set_findings(
        [Finding("i", "Title", Place(2, 5, 2, 10), "measured", "why.", severity="hint")]
    )
    return made


def test_the_place_is_underlined_and_its_line_marked(editor):
    assert editor.findings.ranges() == [(2, 5, 10)]
    assert editor.findings.lines() == {2}
    editor.repaint()
    assert editor._gutter._noticed == {2}


def test_a_mark_moves_with_the_text_and_goes_with_it(editor):
    cursor = editor.textCursor()
    cursor.setPosition(0)
    cursor.insertText("first\n")
    assert editor.findings.ranges() == [(3, 5, 10)]
    cursor.select(cursor.SelectionType.Document)
    cursor.removeSelectedText()
    assert editor.findings.ranges() == []


def test_the_line_tells_what_was_found(editor):
    assert editor.findings.about(2) == "Title. measured."
    assert editor.findings.about(1) == ""
    row = next(row for row in editor.rows() if row.line == 2)
    assert editor.tip_at(QPoint(30, round(row.middle))) == "Title. measured."


def test_a_place_past_the_text_does_no_harm(editor):
    editor.findings.set_findings([Finding("i", "T", Place(99, 3, 99, 4), "m", "w.")])
    editor.repaint()
    editor.findings.set_findings([Finding("i", "T", Place(), "m", "w.")])
    assert editor.findings.ranges() == []
