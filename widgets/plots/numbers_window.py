"""The numbers of a chart as a window with a summary and a table, for the keyboard and for ears."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLayout, QPlainTextEdit, QTableView, QWidget

from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base.boxes import STRETCH, hbox, push_button, vbox
from gradscribe.widgets.base.labels import Label, sheet
from gradscribe.widgets.base.menus import offer_copies, open_by_key
from gradscribe.widgets.base.open_windows import OpenWindows, resize_within_screen
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.base.time_slices import TimeSlices

MOST_ROWS = 100_000
"""Most rows of the table; a CSV file takes all of them."""
SIZE = (560, 560)
SUMMARY_LINES = 6
TURN_MS = 12
Index = QModelIndex | QPersistentModelIndex


class NumberTable(QAbstractTableModel):
    """Rows of texts below a head."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.head: list[str] = []
        self.rows: list[list[str]] = []

    def clear(self, head: Sequence[str] = ()) -> None:
        """Drop all rows, and show another head."""
        self.beginResetModel()
        self.head, self.rows = list(head), []
        self.endResetModel()

    def add(self, rows: Sequence[list[str]]) -> None:
        """Add rows at the end."""
        if rows:
            size = len(self.rows)
            self.beginInsertRows(QModelIndex(), size, size + len(rows) - 1)
            self.rows += rows
            self.endInsertRows()

    def rowCount(self, parent: Index | None = None) -> int:
        """Return the number of rows; called by Qt."""
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index | None = None) -> int:
        """Return the number of columns; called by Qt."""
        return 0 if parent is not None and parent.isValid() else len(self.head)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the text of a cell; called by Qt."""
        if role == Qt.ItemDataRole.DisplayRole:
            row = self.rows[index.row()]
            return row[index.column()] if index.column() < len(row) else ""
        return None

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        """Return the title of a column, or the number of a row; called by Qt."""
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        if orientation == Qt.Orientation.Horizontal:
            return self.head[section]
        return section + 1 if role == Qt.ItemDataRole.DisplayRole else None


class NumbersWindow(QWidget):
    """A window with a chart's summary and numbers at one moment, which closes with the chart's."""

    asked = Signal()
    """The user wishes to see the numbers of now."""

    def __init__(self, owner: QWidget, title: str, theme: Theme) -> None:
        """``owner``: a widget of the chart."""
        super().__init__(owner.window(), Qt.WindowType.Window)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("{title} in numbers", title=title))
        self.summary = QPlainTextEdit(self)
        self.summary.setReadOnly(True)
        self.summary.setTabChangesFocus(True)
        self.summary.setAccessibleName(tr("Summary"))
        self.summary.setFixedHeight(SUMMARY_LINES * self.summary.fontMetrics().lineSpacing() + 12)
        self.model = NumberTable(self)
        self.table = QTableView(self)
        self.table.setModel(self.model)
        self.table.setAccessibleName(tr("Numbers of {title}", title=title))
        self.table.setTabKeyNavigation(False)
        offer_copies(self.table)
        self.count = Label("caption", "", self)
        self.again = push_button(
            tr("Update"), self, self.asked, tip=tr("Show the numbers of now (F5)")
        )
        below = hbox(None, self.count, STRETCH, self.again)
        rows = vbox(self, self.summary, (self.table, 1), below, margins=(12, 12, 12, 12), spacing=8)
        # A minimum size would be sent to the window system; not every one accepts it.
        rows.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        self.setAutoFillBackground(True)
        set_sheet(self, sheet(theme))
        palette = self.palette()
        palette.setColor(self.backgroundRole(), theme.panel)
        self.setPalette(palette)
        self.reading = TimeSlices(TURN_MS, self)
        """Fills the table."""
        resize_within_screen(self, *SIZE)
        owner.window().installEventFilter(self)
        self.table.setFocus()

    def fill(self, summary: Sequence[str], parts: Iterator[str]) -> None:
        """Show sentences, and CSV whose first line is the head."""
        self.summary.setPlainText("\n".join(summary))
        self.summary.setVisible(bool(summary))
        self.model.clear()
        self.reading.run(self._read(parts))

    def _read(self, parts: Iterator[str]) -> Iterator[None]:
        is_cut = False
        for part in parts:
            rows = list(csv.reader(io.StringIO(part)))
            if not self.model.head and rows:
                self.model.clear(rows.pop(0))
            space = MOST_ROWS - len(self.model.rows)
            self.model.add(rows[:space])
            if not self.table.currentIndex().isValid():
                self.table.setCurrentIndex(self.model.index(0, 0))
            if is_cut := len(rows) > space:
                break
            yield
        self._say_count(is_cut)
        self.table.resizeColumnsToContents()

    def _say_count(self, is_cut: bool) -> None:
        count = len(self.model.rows)
        words = ngettext("{count:,} row", "{count:,} rows", count)
        if is_cut:
            words = tr("The first {count:,} rows; a CSV file has all of them", count=count)
        self.count.say(words if self.model.head else tr("There are no numbers yet"))

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Close with the window of the chart, which is not hidden by being minimized."""
        if happened.type() == QEvent.Type.Hide and not happened.spontaneous():
            self.close()
        return super().eventFilter(watched, happened)

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """Close with Escape, update with F5; called by Qt."""
        if happened.key() == Qt.Key.Key_Escape:
            self.close()
        elif happened.key() == Qt.Key.Key_F5:
            self.asked.emit()
        elif not open_by_key(happened):
            super().keyPressEvent(happened)


class NumberedChart(Protocol):
    """A chart whose numbers can be read."""

    @property
    def theme(self) -> Theme:
        """Return the theme in use."""

    def accessibleName(self) -> str:
        """Return the title."""

    def sentences(self) -> Sequence[str]:
        """Return a summary of what is in sight."""

    def table(self) -> Iterator[str]:
        """Yield the numbers in sight as parts of a CSV file, its first line a head."""


class ChartNumbers(QObject):
    """Opens the window with a chart's numbers; opened again it shows those of now.

    ``fetch`` calls its argument once the chart's table can be read, by default at once.
    """

    def __init__(
        self,
        chart: NumberedChart,
        owner: QWidget,
        fetch: Callable[[Callable[[], None]], None] | None = None,
    ) -> None:
        super().__init__(owner)
        self._chart, self._owner = chart, owner
        self._fetch = fetch or (lambda then: then())
        self._windows = OpenWindows[str, NumbersWindow]()

    def open(self) -> None:
        """Show the numbers once they can be read."""
        self._fetch(self._show)

    def _show(self) -> None:
        chart, owner = self._chart, self._owner
        window, is_new = self._windows.show(
            "", lambda: NumbersWindow(owner, chart.accessibleName(), chart.theme)
        )
        if is_new:
            window.asked.connect(self.open)
        window.fill(chart.sentences(), chart.table())
