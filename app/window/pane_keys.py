"""The panes of the main window that F6 leads through, in the order of reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradscribe.app.ui.pane_cycle import PaneCycle

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from gradscribe.app.window.window import Window


def make_pane_cycle(window: Window) -> PaneCycle:
    """Return the cycle through the panes of both pages."""
    return PaneCycle(lambda: _panes(window), window.ground, window.editor, window.status.say)


def _panes(window: Window) -> list[QWidget]:
    if window.workspaces.current == "program":
        lesson = window.lesson_dock.pane
        left = [window.editor, window.below, lesson, window.graph]
        right = [window.inspector, window.tables]
        return [window.notices, *left, *right, window.transport, window.top]
    if not window.workspaces.is_whole:
        return [window.top]
    page = window.workspaces.widgets
    found = (page.columns.widget(index) for index in range(page.columns.count()))
    columns = [column for column in found if column is not None]
    return [window.notices, *columns, page.axis, page.bar]
