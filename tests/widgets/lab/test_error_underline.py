"""The wrong part of a text is underlined, wherever it is."""

import pytest
from PySide6.QtGui import QColor, QTextCharFormat
from PySide6.QtWidgets import QPlainTextEdit

from gradscribe.engine.protocol.tape import Place
from gradscribe.widgets.lab.error_underline import error_selections


@pytest.mark.parametrize(
    ("place", "marked"),
    [
        (Place(1, 4, 1, 9), ["a @ b"]),
        (Place(1, 0, 2, 1), ["x = a @ b", "y"]),
        (Place(), []),
        (Place(9, 0, 9, 4), ["y"]),
    ],
)
def test_what_is_at_the_place_is_underlined(qtbot, place, marked):
    editor = QPlainTextEdit("x = a @ b\ny")
    qtbot.addWidget(editor)
    found = error_selections(editor, place, QColor("red"))
    assert [one.cursor.selectedText() for one in found] == marked
    for one in found:
        assert one.format.underlineStyle() == QTextCharFormat.UnderlineStyle.WaveUnderline
