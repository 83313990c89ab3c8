"""The table of the running line in the window."""

import pytest

from gradscribe.app.document.line_table import LineTableController


@pytest.fixture
def stepping(settled):
    settled.tables.setCurrentWidget(settled.lines)
    settled.clock.reset()
    return settled


@pytest.mark.checklist(16)
def test_line_by_line_through_the_program(stepping, qtbot):
    assert isinstance(stepping.line_steps, LineTableController)
    assert stepping.lines.same.said() == "No line has run yet"
    lines = stepping.editor.toPlainText().split("\n")
    seen = []
    stepping.clock.set_speed(8)
    while stepping.session.view.position < stepping.clock.length:
        stepping.lines.next_pressed.emit()
        qtbot.waitUntil(lambda: not stepping.clock.playing)
        seen.append(stepping.lines.line.said())
    shown = [words.split("  ", 1) for words in seen]
    assert all(lines[int(number) - 1].strip() == code for number, code in shown)
    assert "L.backward()" in seen[-1]
    rows = [row for row in stepping.lines.rows if not row.isHidden()]
    assert any("grad None → " in row.gradient.said() for row in rows)
    stepping.lines.back_pressed.emit()
    assert stepping.lines.line.said() == seen[-2]


def test_a_table_nobody_sees_is_left_alone(settled):
    settled.tables.setCurrentWidget(settled.values)
    before = settled.lines.line.said()
    settled.clock.back()
    assert settled.lines.line.said() == before
    settled.tables.setCurrentWidget(settled.lines)
    assert settled.lines.line.said() != before
