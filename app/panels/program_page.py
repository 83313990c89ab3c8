"""Panels of the program's page."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtWidgets import QWidget

from gradscribe.app.panels.area import PanelArea
from gradscribe.app.panels.homes import BoxHome, SplitterHome, is_empty
from gradscribe.app.ui.layout import Columns, PanelsInPlace, separator
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.tabs import PanelTabs


class ProgramArrangement:
    """The three columns, as the arrangement that panels leave and return to."""

    def __init__(self, columns: Columns, below: PanelTabs, tables: PanelTabs) -> None:
        self._columns, self._below, self._tables = columns, below, tables

    def refit(self, places: Mapping[str, bool]) -> bool:
        """Give the columns the space of the panels that have left; return whether any is there."""
        here = PanelsInPlace(
            program=places["program"],
            below=not is_empty(self._below),
            graph=places["graph"],
            inspector=places["inspector"],
            tables=not is_empty(self._tables),
            lesson=places["lesson"],
        )
        self._columns.fit_to(here)
        has_lesson = here.lesson and not self._columns.lesson.isHidden()
        return has_lesson or here != PanelsInPlace(*(False,) * 5, lesson=here.lesson)

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


NamedTabs = tuple[PanelTabs, Mapping[str, QWidget]]
"""Tabs, and their pages by the names that layouts know them by."""


def make_area(columns: Columns, below: NamedTabs, tables: NamedTabs) -> PanelArea:
    """Return the area of the program's page, with all its panels in their places."""
    for name, page in (*below[1].items(), *tables[1].items()):
        page.setObjectName(name)
    columns.fold_when_low(below[0])
    area = PanelArea(columns, ProgramArrangement(columns, below[0], tables[0]))
    area.add("program", SplitterHome(columns.left, columns.program, tr("Program")))
    area.add("graph", BoxHome(columns.graph_rows, columns.graph, tr("Graph")))
    area.add("inspector", SplitterHome(columns.right, columns.inspector, tr("Inspector")))
    area.add_tabs(below[0])
    area.add_tabs(tables[0])
    area.add("lesson", BoxHome(columns.aside_rows, columns.lesson, tr("Lesson")))
    columns.aside_shown.connect(area.refit)
    return area


def make_page(above: Sequence[QWidget], area: PanelArea, transport: QWidget) -> QWidget:
    """Return the page: what is ``above`` the panels, the panels, and the time line below them."""
    page = QWidget()
    rows = vbox(page, spacing=0)
    for part in above:
        rows.addWidget(part)
    rows.addWidget(area, 1)
    rows.addWidget(separator())
    transport.setProperty("bar", True)
    transport.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    rows.addWidget(transport)
    area.add("timeline", BoxHome(rows, transport, tr("Time line"), stretch=0))
    return page
