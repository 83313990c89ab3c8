"""Wavy underlines for errors in the lab's editor."""

from PySide6.QtGui import QColor, QTextCharFormat
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from engine.tape import Place
from widgets import code_text
from widgets.highlight import units


def wavy(editor: QPlainTextEdit, place: Place, color: QColor) -> list[QTextEdit.ExtraSelection]:
    """Return extra selections that underline a place in the text; empty without one."""
    look = QTextCharFormat()
    look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
    look.setUnderlineColor(color)
    lines = editor.toPlainText().split("\n")
    selections: list[QTextEdit.ExtraSelection] = []
    for number, start, end in code_text.line_ranges(place, lines):
        block, line = editor.document().findBlockByNumber(number), lines[number]
        begin, stop = (block.position() + units(line[:at]) for at in (start, end))
        mark = QTextEdit.ExtraSelection()
        mark.cursor = code_text.selected(editor.document(), begin, stop)
        mark.format = look
        selections.append(mark)
    return selections
