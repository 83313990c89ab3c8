"""Height of the tables below the inspector: as much as their rows need, up to a part."""

from PySide6.QtCore import QByteArray, QEvent, QObject
from PySide6.QtWidgets import QSplitter

from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.tabs import PanelTabs
from gradscribe.widgets.tables.value_table import ValueTable

LARGEST_SHARE = 0.3
LEAST_ROWS = 2
"""Rows of values that stay in view in the lowest window."""


class TableShare(QObject):
    """Share of the tables in a column with the inspector, until the user moves the gutter.

    The inspector shows more than fits in most windows; a table with a few rows would stand next to
    it half empty. The table of values is measured, the others are long.
    """

    def __init__(self, column: QSplitter, tabs: PanelTabs, values: ValueTable) -> None:
        super().__init__(column)
        self._column, self._tabs, self._values = column, tabs, values
        self._is_settled = False
        self._later = single_shot(self, self._apply)
        column.splitterMoved.connect(self._settle)
        column.setStretchFactor(0, 1)
        column.setStretchFactor(1, 0)
        column.installEventFilter(self)
        tabs.currentChanged.connect(lambda _at: self._later.start())
        values.row_count_changed.connect(self._later.start)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Share the height again whenever the column gets another one; called by Qt."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show):
            # The splitter gets its sizes after this.
            self._later.start()
        return False

    def state(self) -> QByteArray:
        """Return the place of the gutter; empty if the user has not moved it."""
        return self._column.saveState() if self._is_settled else QByteArray()

    def recall(self, state: QByteArray) -> None:
        """Restore the place that the user gave the gutter."""
        if not state.isEmpty():
            self._is_settled = self._column.restoreState(state)

    def reset(self) -> None:
        """Share the height as the rows need it again."""
        self._is_settled = False
        self._later.start()

    def _settle(self) -> None:
        self._is_settled = True

    def _apply(self) -> None:
        total = sum(self._column.sizes())
        page = self._tabs.currentWidget()
        if self._is_settled or not total or not self._column.isVisible():
            return
        if page is None or self._column.count() < 2:
            # A panel of the column stands elsewhere.
            return
        around = self._column.sizes()[1] - page.height()
        least = around + self._values.height_of(LEAST_ROWS)
        wanted = most = max(least, round(total * LARGEST_SHARE))
        if page is self._values:
            wanted = around + self._values.height_of(self._values.row_count())
        low = min(most, max(least, wanted))
        if self._column.sizes() != [total - low, low]:
            self._column.setSizes([total - low, low])
