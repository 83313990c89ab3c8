"""Panes of changes and of runs in a low window: what has no space is scrolled, never covered."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QPushButton, QWidget

from gradscribe.playback.compare.run_changes import RunChange
from gradscribe.widgets.base.focus.ring import FocusRing
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.tables.changes import ChangesPane
from gradscribe.widgets.tables.runs import RunRow, RunsPane

SIZE = (258, 124)
"""Size of the panes in a window of 1000 x 640 pixels."""


@pytest.fixture(params=("changes", "runs"))
def pane(request, qtbot):
    if request.param == "runs":
        made = RunsPane()
        rows = [
            RunRow(n, f"Run {n}", "line 3", "loss 0.5", "0 · cpu", False, False) for n in (2, 1)
        ]
        made.set_runs(rows)
    else:
        made = ChangesPane()
        edit = "line 11: return scores - scores.exp() → return scores - scores.logsumexp(1)"
        made.show_edit(edit, ((), ()), "")
        made.show_changes(
            [RunChange("value", f"v{n}", "1 → 2", n, None, n) for n in range(5)],
            "4 calls, 3 values, 4 gradients and 1 print changed",
        )
    made.set_theme(Theme.load("light"))
    over = QWidget()
    qtbot.addWidget(over)
    over.resize(400, 300)
    made.setParent(over)
    made.resize(*SIZE)
    over.show()
    over.activateWindow()
    made.over, made.ring = over, FocusRing(over)
    return made


def test_the_rows_lie_below_the_buttons_and_have_space(pane, qtbot):
    def top(part):
        return part.mapTo(pane, QPoint()).y()

    buttons = [part for part in pane.findChildren(QPushButton) if part.isVisible()]
    assert len(buttons) >= 2
    qtbot.waitUntil(lambda: pane.rows.height() >= 70)
    assert max(top(button) + button.height() for button in buttons) <= top(pane.rows)


def test_the_rows_are_scrolled_to_when_they_have_the_keyboard(pane, qtbot):
    pane.rows.setFocus(Qt.FocusReason.ShortcutFocusReason)
    first = pane.rows.topLevelItem(0)

    def seen():
        here = pane.rows.visualItemRect(first).center()
        at = pane.rows.viewport().mapTo(pane, here)
        return pane.rows.hasFocus() and 0 < at.y() < pane.height()

    qtbot.waitUntil(seen)
