"""Table of the trials of a sweep: sorted by any column, as long as it is."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QTableView, QWidget

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.columns.widths import ColumnWidths
from gradscribe.widgets.base.focus.head_keys import HeadKeys
from gradscribe.widgets.base.labels import sheet, tip
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme

Index = QModelIndex | QPersistentModelIndex
WIDEST = "0.000000000"
"""Text as wide as the widest number."""
SORTED = Qt.ItemDataRole.UserRole


@dataclass(frozen=True)
class TrialTableRow:
    """A row: the number of a trial, and a text and a key to sort by for each column."""

    number: int
    cells: tuple[str, ...]
    keys: tuple[float | str, ...]
    is_best: bool = False


class TrialModel(QAbstractTableModel):
    """The rows of the table."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.columns: tuple[str, ...] = ()
        self.rows: tuple[TrialTableRow, ...] = ()

    def show(self, columns: Sequence[str], rows: Sequence[TrialTableRow]) -> None:
        """Show these rows; only those that changed are painted again."""
        new = tuple(rows)
        if tuple(columns) != self.columns or len(new) != len(self.rows):
            self.beginResetModel()
            self.columns, self.rows = tuple(columns), new
            self.endResetModel()
            return
        changed = [at for at, row in enumerate(new) if row != self.rows[at]]
        self.rows = new
        if changed:
            last = self.index(changed[-1], len(self.columns) - 1)
            self.dataChanged.emit(self.index(changed[0], 0), last)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of trials."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of columns."""
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a cell's text, or what it sorts by."""
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row.cells[index.column()]
        if role == SORTED:
            return row.keys[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(row.cells[index.column()])
        if role == Qt.ItemDataRole.FontRole and row.is_best:
            font = QFont()
            font.setBold(True)
            return font
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return a column's name."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.columns[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        return None


class TrialTable(QTableView):
    """The trials; a click selects one, a double click or Return opens it."""

    opened = Signal(int)
    """Carries the number of a trial."""
    selected = Signal(object)
    """Carries the number of the selected trial, or None."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.trials = TrialModel(self)
        self.wide: frozenset[str] = frozenset()
        """Columns in which numbers will come."""
        self._sorted = QSortFilterProxyModel(self)
        self._sorted.setSourceModel(self.trials)
        self._sorted.setSortRole(SORTED)
        self.setModel(self._sorted)
        self.setAccessibleName(tr("Trials"))
        self.setProperty("bare", True)
        self.verticalHeader().hide()
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        header = self.horizontalHeader()
        self._widths = ColumnWidths(header, "trials")
        self._widths.reset.connect(lambda: self._fit_columns())
        header.setStretchLastSection(True)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setSortingEnabled(True)
        HeadKeys(self)
        self.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        self.doubleClicked.connect(lambda index: self.opened.emit(self._number(index)))
        self.selectionModel().currentRowChanged.connect(lambda now, _: self._select(now))

    def show_trials(self, columns: Sequence[str], rows: Sequence[TrialTableRow]) -> None:
        """Show these rows."""
        is_new = tuple(columns) != self.trials.columns or len(rows) != len(self.trials.rows)
        self.trials.show(columns, rows)
        if rows:
            self._fit_columns(is_new)

    def _fit_columns(self, is_new: bool = True) -> None:
        """Fit the columns to their contents; columns of old trials only become wider."""
        # The numbers come later.
        wide = self.fontMetrics().horizontalAdvance(WIDEST)
        with self._widths.fitting() as fit:
            for column, name in enumerate(self.trials.columns):
                needed = max(self._text_width(column), self._head_width(column))
                least = wide if name in self.wide else 0
                before = 0 if is_new else self.columnWidth(column)
                if max(needed, least) > before:
                    fit(column, max(needed, least))

    def _text_width(self, column: int) -> int:
        """Return the width of the longest text of a column in bold, as any trial may be the best.

        Qt's own hint is for the rows in sight, and another order brings others.
        """
        rows = self.trials.rows
        longest = max(range(len(rows)), key=lambda at: len(rows[at].cells[column]), default=0)
        index = self._sorted.mapFromSource(self.trials.index(longest, column))
        hint = self.sizeHintForIndex(index).width()
        if not rows or rows[longest].is_best:
            return hint
        font, text = QFont(self.font()), rows[longest].cells[column]
        font.setBold(True)
        bold = QFontMetrics(font).horizontalAdvance(text)
        return hint + max(0, bold - self.fontMetrics().horizontalAdvance(text))

    def _head_width(self, column: int) -> int:
        return self.horizontalHeader().sectionSizeHint(column)

    def select(self, number: int | None) -> None:
        """Select a trial."""
        for at, row in enumerate(self.trials.rows):
            if row.number == number:
                self.setCurrentIndex(self._sorted.mapFromSource(self.trials.index(at, 0)))

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        set_sheet(self, sheet(theme))
        self.verticalHeader().setDefaultSectionSize(round(26 * theme.scale))

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """Open the trial with Return; called by Qt."""
        if (
            happened.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            and self.currentIndex().isValid()
        ):
            self.opened.emit(self._number(self.currentIndex()))
            return
        super().keyPressEvent(happened)

    def _number(self, index: Index) -> int:
        return self.trials.rows[self._sorted.mapToSource(index).row()].number

    def _select(self, index: Index) -> None:
        self.selected.emit(self._number(index) if index.isValid() else None)
