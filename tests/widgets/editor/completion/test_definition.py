"""Definitions: by key, by mouse, with an answer and without one."""

from PySide6.QtCore import QPointF, Qt

from gradscribe.engine.protocol.language import Locate, Located
from gradscribe.widgets.editor import line_layout
from gradscribe.widgets.editor.completion import definition as module
from tests.widgets.editor.completion.conftest import PROGRAM


def caret(user):
    cursor = user.edit.textCursor()
    return cursor.blockNumber() + 1, cursor.positionInBlock()


def test_the_caret_goes_where_the_answer_says(user):
    user.type("loss")
    user.help.go_to_definition()
    asked = user.last(Locate)
    assert (asked.line, asked.column, asked.source) == (6, 0, PROGRAM + "loss")
    user.help.take(Located(asked.serial, 3, 0))
    assert caret(user) == (3, 0)


def test_what_torch_defines_is_said(user):
    user.edit.go_to_line(1, 6)
    user.help.go_to_definition()
    user.help.take(Located(user.last(Locate).serial, elsewhere="torch"))
    assert user.said == ["torch is defined by torch, not in this program"]
    assert caret(user) == (1, 6)


def test_without_an_answer_the_text_is_searched(user, monkeypatch):
    monkeypatch.setattr(user.help.definition._limit, "interval", lambda: 0)
    user.help.definition._limit.setInterval(1)
    user.type("helper")
    user.help.go_to_definition()
    user.qtbot.waitUntil(lambda: caret(user) == (4, 4))
    # The answer that comes now is dropped.
    user.help.take(Located(user.last(Locate).serial, 1, 0))
    assert caret(user) == (4, 4)


def test_an_answer_is_dropped_once_the_text_has_changed(user):
    user.type("loss")
    user.help.go_to_definition()
    user.type(" + 1")
    user.help.take(Located(user.last(Locate).serial, 3, 0))
    assert caret(user)[0] == 6


def test_without_a_process_the_text_is_searched_at_once(user):
    user.help.has_answers = False
    user.type("helper(loss")
    user.help.go_to_definition()
    assert caret(user) == (3, 0)
    assert user.locates == []


def test_what_is_defined_nowhere_is_said(user):
    user.help.has_answers = False
    user.type("nowhere")
    user.help.go_to_definition()
    assert user.said == ["No definition of nowhere in this program"]
    user.put("x = 1\n# words\n")
    user.edit.go_to_line(2, 3)
    user.help.go_to_definition()
    assert user.said[-1] == "There is no name at the caret"


def test_a_click_with_control_goes_there(user, qtbot):
    user.help.has_answers = False
    block = user.edit.document().findBlockByNumber(2)
    left, right = line_layout.span_x(user.edit, block, 7, 10)
    row = next(row for row in user.edit.rows() if row.line == 3)
    spot = QPointF((left + right) / 2, row.middle).toPoint()
    qtbot.mouseClick(
        user.edit.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, spot
    )
    assert caret(user) == (2, 0)


def test_a_click_with_control_beside_a_name_is_a_click(user, qtbot):
    row = next(row for row in user.edit.rows() if row.line == 3)
    spot = QPointF(user.edit.viewport().width() - 5, row.middle).toPoint()
    qtbot.mouseClick(
        user.edit.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, spot
    )
    assert caret(user)[0] == 3
    assert user.said == []


def test_an_answer_beyond_the_text_does_no_harm(user):
    user.type("loss")
    user.help.go_to_definition()
    user.help.take(Located(user.last(Locate).serial, 10_000, 10_000))
    assert 1 <= caret(user)[0] <= user.edit.blockCount()
    assert module.ANSWER_MS > 0
