"""When the tab with the output comes to the front by itself."""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QTabWidget

from app.state import ENGINE_DIED, Result
from playback import text
from widgets.console import Console, warning_count


class OutputTab(QObject):
    """Counts warnings on the tab of the output, and turns to it where one would miss something.

    That is the first output of a program, and a problem that has no line in it; both only until
    somebody has chosen a tab. The keyboard stays where it is.
    """

    def __init__(self, tabs: QTabWidget, console: Console) -> None:
        super().__init__(tabs)
        self._tabs, self._console = tabs, console
        self._spoke = self._chosen = False
        tabs.tabBarClicked.connect(self._choose)

    def show_result(self, result: Result) -> None:
        """Show how many warnings there are, and the output if it is news."""
        warnings = warning_count(result.stderr)
        place = self._tabs.indexOf(self._console)
        self._tabs.setTabText(place, f"Output · {warnings}" if warnings else "Output")
        self._tabs.setTabToolTip(place, text.count(warnings, "warning") if warnings else "")
        problem = result.problem
        lost = problem is not None and not problem.place.line and problem.type != ENGINE_DIED
        speaks = bool(result.stdout or result.tape.figures) or lost
        if speaks and not self._spoke and not self._chosen:
            self._tabs.setCurrentWidget(self._console)
        self._spoke = speaks

    def forget(self) -> None:
        """Take another program as a new beginning."""
        self._chosen = False

    def _choose(self) -> None:
        self._chosen = True
