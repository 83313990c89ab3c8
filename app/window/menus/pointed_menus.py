"""Context menus of what is pointed at in the program, in the findings and on the time line."""

from functools import partial

from PySide6.QtCore import QObject, QPoint
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from gradscribe.app.commands import export
from gradscribe.app.commands.context import CommandContext
from gradscribe.app.window.menus.menus import Menus
from gradscribe.playback.translation import tr
from gradscribe.widgets.base import menus
from gradscribe.widgets.tables.findings import FindingCard


class PointedMenus(QObject):
    """Select what was pointed at, and open the menu of its kind."""

    def __init__(self, context: CommandContext, menus_of_window: Menus, window: QWidget) -> None:
        super().__init__(window)
        self._context, self._menus, self._window = context, menus_of_window, window

    def open_for_line(self, line: int, at: QPoint) -> None:
        """Open the menu of a line of code, and of the tensor that it made, if there is one."""
        made = self._context.presenter.pick_line(line)
        self._menus.pop_up_for("line" if made else "text", at)

    def open_for_finding(self, card: FindingCard, at: QPoint) -> None:
        """Open the menu of a finding, and of the tensor that its line made, if there is one."""
        # Of a text that was changed since, the lines are others.
        made = card.is_current and self._context.presenter.pick_line(card.finding.place.line)
        self._menus.pop_up_for("finding" if made else "remark", at, card.menu_actions(self._window))

    def open_for_position(self, position: int, at: QPoint, first: list[QAction]) -> None:
        """Open the menu of a position on the time line, after the actions ``first``."""
        context, last = self._context, self._context.clock.length
        for title, mark, is_possible in (
            (tr("Begin the film here"), export.begin_film_at, position < last),
            (tr("End the film here"), export.end_film_at, position > 0),
        ):
            made = menus.actions(self, (title, partial(mark, context, position)))
            made[0].setEnabled(is_possible)
            first += made
        self._menus.pop_up_for("position", at, first)
