"""F6 and Shift+F6: through the panes of both pages, and out of the editor."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.app.accessibility.test_focus import shown, window  # noqa: F401


@pytest.fixture
def ready(shown):  # noqa: F811
    shown.editor.setFocus()
    return shown


def press(window, key=Qt.Key.Key_F6, modifiers=Qt.KeyboardModifier.NoModifier):  # noqa: F811
    QTest.keyClick(window.focusWidget() or window, key, modifiers)
    return window.focusWidget()


def around(window, modifiers=Qt.KeyboardModifier.NoModifier):  # noqa: F811
    """Press F6 until the focus is back; return what it came through."""
    first, found = window.focusWidget(), []
    for _ in range(20):
        found.append(press(window, modifiers=modifiers))
        if found[-1] is first:
            return found
    raise AssertionError("F6 never comes back")


def test_f6_leads_through_all_panes_and_back_into_the_editor(ready):
    found = around(ready)
    assert found[-1] is ready.editor
    assert ready.graph in found
    for pane in (ready.tables, ready.transport, ready.top):
        assert any(pane.isAncestorOf(widget) for widget in found), pane
    assert around(ready, Qt.KeyboardModifier.ShiftModifier) == [*found[-2::-1], found[-1]]


def test_a_pane_gives_the_focus_to_where_it_was(ready):
    inside = ready.top.layers["values"]
    inside.setFocus(Qt.FocusReason.TabFocusReason)
    assert press(ready) is not inside
    assert press(ready, modifiers=Qt.KeyboardModifier.ShiftModifier) is inside


def test_a_hidden_pane_is_left_out(ready):
    ready.settings.put("right", False)
    QApplication.processEvents()
    assert not any(ready.tables.isAncestorOf(widget) for widget in around(ready))


def test_below_a_card_nothing_moves(ready):
    ready.menus.perform_by("help.keys")
    QApplication.processEvents()
    here = ready.focusWidget()
    ready.context.step_pane(1)
    assert ready.focusWidget() is here
    QTest.keyClick(here, Qt.Key.Key_Escape)


def test_the_status_line_says_how_to_leave_the_editor(ready):
    ready.graph.setFocus()
    ready.editor.setFocus(Qt.FocusReason.TabFocusReason)
    assert ready.status.message.text() == "F6 leaves the editor, and so does Esc followed by Tab"
    QTest.keyClick(ready.editor, Qt.Key.Key_Escape)
    QTest.keyClick(ready.editor, Qt.Key.Key_Tab)
    assert ready.focusWidget() is not ready.editor


def test_f6_leads_through_the_training_page(ready, qtbot):
    ready.workspaces.show_workspace("training")
    ready.train_link.greet()
    qtbot.waitUntil(lambda: ready.workspaces.is_whole, timeout=30_000)
    page = ready.workspaces.widgets
    qtbot.waitUntil(lambda: page.form.parts["schedule"].choice.count() > 0)
    page.bar.play.setFocus()
    found = around(ready)
    assert any(page.sheet.isAncestorOf(widget) or widget is page.sheet for widget in found)
    assert page.axis in found
    assert len(found) >= 4
