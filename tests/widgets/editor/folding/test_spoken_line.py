"""Signs painted into the editor have words: fold, breakpoint, value and gradient of a line."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest

from gradscribe.playback.code.lines import LineMark
from gradscribe.widgets.editor import spoken_line
from gradscribe.widgets.editor.gutter import Gutter
from tests.widgets.editor.folding.test_folds import put_caret

KEYS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def announced(monkeypatch):
    """Note what a screen reader is given to say."""
    heard = []

    class Spy:
        """Accessibility of Qt."""

        @staticmethod
        def updateAccessibility(event):
            if event.type() == QAccessible.Event.Announcement:
                heard.append(event.message())

    monkeypatch.setattr(spoken_line, "QAccessible", Spy)
    return heard


def test_the_caret_s_line_is_named_with_its_fold(edit, announced):
    gutter = edit.findChild(Gutter)
    put_caret(edit, 1)
    put_caret(edit, 9)
    assert gutter.accessibleName() == "Line 9, block, unfolded"
    assert announced == []
    edit.folds.toggle(9)
    assert gutter.accessibleName() == "Line 9, 4 lines folded"
    assert announced == ["4 lines folded"]
    put_caret(edit, 1)
    put_caret(edit, 9)
    assert announced == ["4 lines folded"] * 2, "it is said again where the caret comes to it"
    edit.folds.toggle(9)
    assert announced[-1] == "block, unfolded"


def test_a_breakpoint_is_named(edit):
    gutter = edit.findChild(Gutter)
    put_caret(edit, 9)
    edit.breakpoints.toggle(9)
    assert gutter.accessibleName() == "Line 9, block, unfolded, breakpoint"
    edit.breakpoints.toggle(9)
    assert gutter.accessibleName() == "Line 9, block, unfolded"


def test_value_and_gradient_are_its_description(edit):
    gutter = edit.findChild(Gutter)
    put_caret(edit, 2)
    edit.set_marks({2: LineMark(2, "n", "0.8814", "0.2071", reached=True)})
    assert gutter.accessibleDescription() == "n = 0.8814, gradient 0.2071"
    QTest.keyClick(edit, Qt.Key.Key_Down)
    assert gutter.accessibleDescription() == ""
    assert gutter.accessibleName().startswith("Line 3")
