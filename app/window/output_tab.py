"""Automatic switching to the output tab."""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QTabWidget

from gradscribe.app.document.state import ENGINE_DIED, Result
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.tables.console import Console, count_warnings


class OutputTab(QObject):
    """Count warnings on the output tab, and bring it to the front when there is news.

    News are the first output of a program and a problem without a line; both only until the user
    has chosen a tab. The focus does not change.
    """

    def __init__(self, tabs: QTabWidget, console: Console) -> None:
        super().__init__(tabs)
        self._tabs, self._console = tabs, console
        self._spoke = self._chosen = False
        tabs.tabBarClicked.connect(self._choose)

    def show_result(self, result: Result) -> None:
        """Show the number of warnings, and the output tab if there is news."""
        warnings = count_warnings(result.stderr)
        place = self._tabs.indexOf(self._console)
        self._tabs.setTabText(place, f"Output · {warnings}" if warnings else tr("Output"))
        self._tabs.setTabToolTip(
            place, ngettext("{count:,} warning", "{count:,} warnings", warnings) if warnings else ""
        )
        problem = result.problem
        lost = problem is not None and not problem.place.line and problem.type != ENGINE_DIED
        speaks = bool(result.stdout or result.tape.figures) or lost
        if speaks and not self._spoke and not self._chosen:
            self._tabs.setCurrentWidget(self._console)
        self._spoke = speaks

    def append(self, text: str) -> None:
        """Show more output, of something other than the program, in the output tab."""
        self._tabs.setCurrentWidget(self._console)
        self._console.append(text)

    def forget(self) -> None:
        """Forget that the user has chosen a tab: another program was opened."""
        self._chosen = False

    def _choose(self) -> None:
        self._chosen = True
