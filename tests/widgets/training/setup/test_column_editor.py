"""The editor of a column says its choices in full, in a narrow form too."""

import pytest
from PySide6.QtGui import QFont

from gradscribe.engine.protocol.training import ColumnSummary
from gradscribe.widgets.base.choice import Choice
from gradscribe.widgets.training.setup.column_editor import INPUT, USES, ColumnEditor

DETAILS = tuple(
    ColumnSummary(name, kind, "", choices=("number", "date parts"), blanks=3)
    for name, kind in (("size", "number"), ("sold on", "date parts"))
)


@pytest.fixture(autouse=True)
def plain_look(qapp):
    """Widths are compared with a font of known size, whatever tests before have set."""
    sheet, font = qapp.styleSheet(), qapp.font()
    qapp.setStyleSheet("")
    qapp.setFont(QFont("DejaVu Sans", 9))
    yield
    qapp.setStyleSheet(sheet)
    qapp.setFont(font)


@pytest.fixture
def editor(shown):
    made = shown(ColumnEditor(), 500, 300)
    made.show_columns(DETAILS)
    return made


def elided(editor):
    boxes = editor.findChildren(Choice)
    assert len(boxes) == 4
    return [box.currentText() for box in boxes if box.needed_width() > box.width()]


@pytest.mark.parametrize("width", [500, 320, 210])
@pytest.mark.parametrize("number", [0, 1])
def test_no_choice_is_elided(editor, qtbot, width, number):
    editor.show_column(number, INPUT, USES, None)
    editor.resize(width, 300)
    qtbot.waitUntil(lambda: editor.width() == width and not elided(editor))
    assert editor.kind.currentText().startswith("As found: ")


def test_labels_go_above_their_boxes_only_where_there_is_no_space_next_to_them(editor, qtbot):
    editor.show_column(0, INPUT, USES, None)
    qtbot.waitUntil(lambda: editor.column.x() > 30)
    editor.resize(210, 300)
    qtbot.waitUntil(lambda: editor.column.x() < 10)
    editor.resize(500, 300)
    qtbot.waitUntil(lambda: editor.column.x() > 30)


def test_a_longer_text_makes_the_labels_go_above(editor, qtbot):
    editor.show_column(0, INPUT, USES, None)
    # One pixel less than the longest text needs.
    narrow = editor.column.x() + editor.kind.needed_width()
    editor.resize(narrow, 300)
    qtbot.waitUntil(lambda: editor.width() == narrow)
    editor.show_column(1, INPUT, USES, None)
    qtbot.waitUntil(lambda: not elided(editor))
    assert editor.kind.currentText() == "As found: year, month, day…"
