"""The window for backward code: checked by the keyboard, rows as text."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.by_hand.code_window import RESULT, CodeRow, CodeWindow


@pytest.fixture
def window(qtbot):
    made = CodeWindow()
    qtbot.addWidget(made)
    made.set_theme(Theme.load("dark"))
    made.show()
    qtbot.waitExposed(made)
    return made


def test_control_return_checks_the_code(window, qtbot):
    window.set_code("dw = 1\n", fresh=True)
    window.editor.setFocus()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    with qtbot.waitSignal(window.check_pressed) as sent:
        QTest.keyClick(window.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert sent.args == ["dw = 1\n"]
    assert window.code() == "dw = 1\n"


def test_a_second_check_waits_for_the_first(window, qtbot):
    window.set_waiting(True)
    with qtbot.assertNotEmitted(window.check_pressed):
        window._check()
    window.set_waiting(False)
    assert window.check.text() == "Check"


def test_rows_say_right_and_wrong_with_a_sign(window):
    rows = [CodeRow("dw", "equal to the bit", mood="good"), CodeRow("db", "1 differs", mood="bad")]
    window.show_rows(rows, "1 of 2")
    texts = [window.table.topLevelItem(at).text(RESULT) for at in (0, 1)]
    assert texts == ["✓ equal to the bit", "✗ 1 differs"]
    assert window.words.said() == "1 of 2"


def test_rows_stay_in_another_theme(window):
    window.show_rows([CodeRow("dw", "x")], "words")
    window.set_theme(Theme.load("light"))
    assert window.table.topLevelItemCount() == 1
    assert window.words.said() == "words"
