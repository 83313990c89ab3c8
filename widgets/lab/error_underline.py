"""Wavy underlines for errors in the lab's editor."""

from PySide6.QtGui import QColor, QTextCharFormat
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from gradscribe.engine.protocol.tape import Place
from gradscribe.widgets.editor import source_text
from gradscribe.widgets.editor.highlight import units


def error_selections(
    editor: QPlainTextEdit, place: Place, color: QColor
) -> list[QTextEdit.ExtraSelection]:
    """Return extra selections that underline a place in the text; empty without one."""
    look = QTextCharFormat()
    look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
    look.setUnderlineColor(color)
    lines = editor.toPlainText().split("\n")
    selections: list[QTextEdit.ExtraSelection] = []
    for number, start, end in source_text.underline_ranges(place, lines):
        block, line = editor.document().findBlockByNumber(number), lines[number]
        begin, stop = (block.position() + units(line[:at]) for at in (start, end))
        mark = QTextEdit.ExtraSelection()
        mark.cursor = source_text.range_cursor(editor.document(), begin, stop)
        mark.format = look
        selections.append(mark)
    return selections
