"""Panels of the program's page."""

from collections.abc import Mapping

from PySide6.QtCore import QByteArray

from gradscribe.app.panels.area import PanelArea
from gradscribe.app.panels.homes import BoxHome, SplitterHome, is_empty
from gradscribe.app.ui.layout import Columns, PanelsInPlace
from gradscribe.widgets.base.panel_tabs import PanelTabs


class ProgramArrangement:
    """The three columns, as the arrangement that panels leave and return to."""

    def __init__(self, columns: Columns, below: PanelTabs, tables: PanelTabs) -> None:
        self._columns, self._below, self._tables = columns, below, tables

    def refit(self, places: Mapping[str, bool]) -> None:
        """Give the columns the space of the panels that have left."""
        self._columns.fit_to(
            PanelsInPlace(
                program=places["program"],
                below=not is_empty(self._below),
                graph=places["graph"],
                inspector=places["inspector"],
                tables=not is_empty(self._tables),
                lesson=places["lesson"],
            )
        )

    def set_margin(self, pixels: int) -> None:
        """Leave so much space around the columns."""
        self._columns.set_margin(pixels)

    def gutters(self) -> dict[str, bytes]:
        """Return the positions of the gutters."""
        return {name: bytes(state.data()) for name, state in self._columns.gutters().items()}

    def restore_gutters(self, gutters: Mapping[str, bytes]) -> None:
        """Restore the positions of the gutters."""
        states = {name: QByteArray(state) for name, state in gutters.items()}
        self._columns.restore_gutters(states)

    def reset(self) -> None:
        """Put gutters and tabs as they are in a new window."""
        self._columns.reset()
        for tabs in (self._below, self._tables):
            tabs.setCurrentIndex(0)


def make_area(columns: Columns, below: PanelTabs, tables: PanelTabs) -> PanelArea:
    """Return the area of the program's page, with all its panels in their places."""
    area = PanelArea(columns, ProgramArrangement(columns, below, tables))
    area.add("program", SplitterHome(columns.left, columns.program, "Program"))
    area.add("graph", BoxHome(columns.graph_rows, columns.graph, "Graph"))
    area.add("inspector", SplitterHome(columns.right, columns.inspector, "Inspector"))
    area.add_tabs(below)
    area.add_tabs(tables)
    area.add("lesson", BoxHome(columns.aside_rows, columns.lesson, "Lesson"))
    return area
