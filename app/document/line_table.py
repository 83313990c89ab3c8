"""Connect the table of the current line to the session and the clock."""

from PySide6.QtCore import QObject

from gradscribe.app.document.clock import PlaybackClock
from gradscribe.app.document.presenter import Presenter
from gradscribe.app.document.session import Session
from gradscribe.playback.code import line_states
from gradscribe.widgets.base.tabs import PanelTabs
from gradscribe.widgets.tables.line_table import LineTable


class LineTableController(QObject):
    """Fill the table while it is visible, and connect its buttons to the clock."""

    def __init__(
        self,
        session: Session,
        clock: PlaybackClock,
        showing: Presenter,
        table: LineTable,
        tabs: PanelTabs,
    ) -> None:
        super().__init__(table)
        self._session, self._table, self._tabs = session, table, tabs
        session.moved.connect(self.refresh)
        session.tape_changed.connect(self.refresh)
        tabs.currentChanged.connect(self.refresh)
        table.next_pressed.connect(clock.next_line)
        table.back_pressed.connect(clock.previous_line)
        table.picked.connect(showing.select_value)
        self.refresh()

    def refresh(self) -> None:
        """Show the line that runs at this position, if the table is visible."""
        if not self._tabs.is_open(self._table):
            return
        tape, position = self._session.result.tape, self._session.view.position
        span = line_states.line_run_at(tape, position)
        line = span.line if span is not None else 0
        lines = self._session.result.source.split("\n")
        source = lines[line - 1] if 0 < line <= len(lines) else ""
        self._table.show_line(line, source, line_states.tensor_states(tape, position))
