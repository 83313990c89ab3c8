"""Table of all runs: to continue, hide, rename or forget them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QKeyEvent, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QMenu,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.columns.order import ColumnOrder
from gradscribe.widgets.base.columns.widths import ColumnWidths
from gradscribe.widgets.base.focus.head_keys import HeadKeys
from gradscribe.widgets.base.labels import Heading, sheet, tip
from gradscribe.widgets.base.menus import RowMenu, copy_text
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme

TICK = 28
LEAST_NAME = 210
"""Least pixels of a run's name, if it is as long."""
SHORT_NAME = 140
"""Pixels to which a run's name gives way before the table needs a scroll bar."""
COLUMNS = (tr("Run"), tr("Steps"), tr("Loss"), tr("Validation"), tr("Best"), tr("Differs by"))

COLOR = Qt.ItemDataRole.UserRole
"""Role of the colour of the mark before a name."""


@dataclass(frozen=True)
class RunTableRow:
    """A row of the table: a run and its results."""

    run_id: int
    name: str
    color: QColor
    steps: int
    loss: float
    validation: float
    best: float
    differs: str = ""
    shown: bool = True
    current: bool = False
    alive: bool = True


class RunTable(QWidget):
    """A table of runs; Return or a double click continues a run, F2 renames, Delete forgets it."""

    picked = Signal(int)
    hidden = Signal(int, bool)
    dropped = Signal(int)
    renamed = Signal(int, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        words = tr("double click continues, the right button has a menu; the tick shows curves")
        self.heading = Heading(tr("Runs"), words)
        self.table = _Table(0, len(COLUMNS))
        self.table.setHorizontalHeaderLabels(list(COLUMNS))
        self.table.setAccessibleName(tr("Runs"))
        self.table.setProperty("bare", True)
        self.table.verticalHeader().hide()
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setShowGrid(False)
        # The step of a fork is at the end of its name.
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.table.setWordWrap(False)
        header = self.table.horizontalHeader()
        self._given: tuple[RunTableRow, ...] = ()
        self._order = ColumnOrder(header)
        self._order.changed.connect(lambda: self.show_runs(self._given))
        HeadKeys(self.table)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        column = vbox(self, margins=(12, 12, 8, 8))
        column.addWidget(self.heading)
        column.addWidget(self.table, 1)
        self._lines: tuple[RunTableRow, ...] = ()
        self._seen: list[tuple[object, ...]] = []
        """The displayed contents of each row; empty until set."""
        self.table.itemChanged.connect(self._tick)
        self.table.activated_row.connect(lambda row: self.picked.emit(self._lines[row].run_id))
        self.table.deleted_row.connect(lambda row: self.dropped.emit(self._lines[row].run_id))
        RowMenu(self.table, self._offer)

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Shorten the heading to leave space for the numbers; called by Qt."""
        super().resizeEvent(happened)
        self.heading.fit_height(self.height())

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        set_sheet(self, sheet(theme))
        self.table.fit()

    def show_runs(self, lines: Sequence[RunTableRow]) -> None:
        """Show these runs; ignored while a name is being edited, which it would discard."""
        if self.table.is_edited:
            return
        self._given = tuple(lines)
        lines = tuple(self._order.sorted(self._given, _words))
        changed = [line.run_id for line in lines] != [line.run_id for line in self._lines]
        with QSignalBlocker(self.table):
            if changed:
                self._move_rows(lines)
            self._lines = lines
            for row, line in enumerate(lines):
                # Most rows do not change: setting a cell again would measure it again.
                seen = _seen(line)
                if self._seen[row] != seen:
                    self._seen[row] = seen
                    columns = self._show_line(row, line)
                    self.table.measure(row, columns)
                    changed = changed or bool(columns)
        if changed:
            # Only once: Qt would measure the whole column for every cell that is set.
            self.table.fit()

    def _move_rows(self, lines: tuple[RunTableRow, ...]) -> None:
        """Insert and remove rows so that each run has its row; other rows are reused."""
        stays, ids = {line.run_id for line in lines}, [line.run_id for line in self._lines]
        for row in reversed(range(len(ids))):
            if ids[row] not in stays:
                self._drop_row(row)
                del ids[row]
        for row, line in enumerate(lines):
            if row >= len(ids) or ids[row] != line.run_id:
                self.table.add_row(row)
                self._seen.insert(row, ())
                ids.insert(row, line.run_id)
        for row in reversed(range(len(lines), len(ids))):
            self._drop_row(row)

    def _drop_row(self, row: int) -> None:
        self.table.drop_row(row)
        del self._seen[row]

    def _show_line(self, row: int, line: RunTableRow) -> set[int]:
        """Show a run, and return the columns whose width may have changed.

        Only cells that changed are set, as Qt measures a cell that is set again.
        """
        changed = set[int]()
        gone = "" if line.alive else tr("\nOnly its curves are kept; it cannot continue")
        more = tr("\nDiffers by {differs}", differs=line.differs) if line.differs else ""
        more = "" if line.current else more
        for column, word in enumerate(_words(line)):
            item = self.table.item(row, column)
            if item is None:
                item = _cell(column)
                self.table.setItem(row, column, item)
            detail = gone if column else f"{more}{gone}"
            font, tooltip = item.font(), tip(f"{word}{detail}".strip())
            if item.text() != word or font.bold() != line.current:
                changed.add(column)
                font.setBold(line.current)
                item.setText(word)
                item.setFont(font)
            if item.toolTip() != tooltip:
                item.setToolTip(tooltip)
        first = self.table.item(row, 0)
        assert first is not None
        if first.data(COLOR) != line.color.rgba():
            first.setData(COLOR, line.color.rgba())
            first.setIcon(_swatch(line.color))
        first.setCheckState(Qt.CheckState.Checked if line.shown else Qt.CheckState.Unchecked)
        return changed

    def _offer(self, index: QModelIndex, at: QPoint) -> None:
        """Offer what can be done with a run."""
        self.table.setCurrentCell(index.row(), 0)
        self.menu_of(index.row()).popup(at)

    def menu_of(self, row: int) -> QMenu:
        """Return the context menu of the run in a row; it is deleted when closed."""
        line, menu = self._lines[row], QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        drive = menu.addAction(tr("Continue") if line.alive else tr("Use its set-up"))
        drive.triggered.connect(lambda: self.picked.emit(line.run_id))
        hide = menu.addAction(tr("Hide its curves") if line.shown else tr("Show its curves"))
        hide.triggered.connect(lambda: self.hidden.emit(line.run_id, line.shown))
        copy = menu.addAction(tr("Copy the row"))
        copy.triggered.connect(lambda: copy_text("\t".join(_words(line))))
        menu.addSeparator()
        rename = menu.addAction(tr("Rename") + "\tF2")
        rename.triggered.connect(lambda: self.table.rename(row))
        forget = menu.addAction(tr("Forget") + "\tDel")
        forget.triggered.connect(lambda: self.dropped.emit(line.run_id))
        for action in (drive, forget):
            action.setEnabled(not line.current)
        return menu

    def _tick(self, item: QTableWidgetItem) -> None:
        if item.column() == 0 and item.row() < len(self._lines):
            line = self._lines[item.row()]
            if item.text() != line.name:
                self.renamed.emit(line.run_id, item.text())
            shown = item.checkState() == Qt.CheckState.Checked
            if shown != line.shown:
                self.hidden.emit(line.run_id, not shown)


def _cell(column: int) -> QTableWidgetItem:
    """Return an empty cell."""
    item = QTableWidgetItem()
    if column == 0:
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
    elif column < len(COLUMNS) - 1:
        item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return item


def _words(line: RunTableRow) -> tuple[str, ...]:
    numbers = (formatting.number(loss) for loss in (line.loss, line.validation, line.best))
    shown = ("\N{EM DASH}" if word == "NaN" else word for word in numbers)
    return line.name, f"{line.steps:,}", *shown, line.differs


def _seen(line: RunTableRow) -> tuple[object, ...]:
    """Return the displayed contents of a row; as text, since NaN is not equal to itself."""
    return *_words(line), line.color.rgba(), line.shown, line.current, line.alive


class _Table(QTableWidget):
    """Table that signals the row of Return, a double click and Delete."""

    activated_row = Signal(int)
    deleted_row = Signal(int)

    def __init__(self, rows: int, columns: int) -> None:
        super().__init__(rows, columns)
        self._name, self._numbers, self._last, self._title = LEAST_NAME, 0, 0, 0
        """Pixels of the longest name, all numbers, the last column, and its header."""
        self._widths: list[list[int]] = []
        """Pixels of each cell, row by row, in the current font."""
        self._font = self.font()
        self._chosen = ColumnWidths(self.horizontalHeader(), "training runs")
        self._chosen.reset.connect(self.fit)
        self.itemDoubleClicked.connect(lambda item: self.activated_row.emit(item.row()))

    @property
    def is_edited(self) -> bool:
        """True while a name is being edited."""
        return self.state() == QAbstractItemView.State.EditingState

    def sizeHintForColumn(self, column: int) -> int:
        """Return a column's width; called by Qt, whose own hint ignores the larger check box."""
        return super().sizeHintForColumn(column) + (0 if column else TICK)

    def add_row(self, row: int) -> None:
        """Insert a row."""
        self.insertRow(row)
        self._widths.insert(row, [0] * self.columnCount())

    def drop_row(self, row: int) -> None:
        """Remove a row."""
        self.removeRow(row)
        del self._widths[row]

    def measure(self, row: int, columns: Iterable[int]) -> None:
        """Measure cells of a row."""
        model, widths = self.model(), self._widths[row]
        for column in columns:
            hint = self.sizeHintForIndex(model.index(row, column)).width()
            widths[column] = hint + (0 if column else TICK)

    def fit(self) -> None:
        """Fit the columns to their contents; if that is too wide, long names are elided first.

        The last column is mostly part of a run's name too, unless the user named the run.
        """
        if self._font != self.font():
            self._font = self.font()
            for row in range(len(self._widths)):
                self.measure(row, range(self.columnCount()))
        header = self.horizontalHeader()
        least = header.minimumSectionSize()
        heads = [max(header.sectionSizeHint(at), least) for at in range(self.columnCount())]
        name, *numbers, last = map(max, zip(heads, *self._widths, strict=True))
        with self._chosen.fitting() as fit:
            for column, width in enumerate(numbers, start=1):
                fit(column, width)
        numbers = [header.sectionSize(column) for column in range(1, len(numbers) + 1)]
        self._title = header.sectionSizeHint(self.columnCount() - 1)
        self._name, self._numbers, self._last = name, sum(numbers), last
        self._share()

    def _share(self) -> None:
        room, end = self.viewport().width() - self._numbers, self.columnCount() - 1
        # Names that are cut all look alike: the differences are in their tips, too.
        is_hidden = end not in self._chosen.chosen and room - self._title < self._least_name
        self.setColumnHidden(end, is_hidden)
        if is_hidden:
            with self._chosen.fitting() as fit:
                fit(0, max(min(self._name, SHORT_NAME), room))
            return
        # A list of differences may be very long: it is elided beyond two fifths of the width.
        last = min(self._last, max(self._title, 2 * room // 5))
        name = min(self._name, max(LEAST_NAME, room - last))
        if name + max(last, self._title) > room:
            name = max(min(name, SHORT_NAME), room - max(last, self._title))
        with self._chosen.fitting() as fit:
            fit(0, name)
            # Qt's own stretching leaves the last column too wide once it was pushed out of view.
            left = room - self.columnWidth(0)
            fit(end, max(self._title, left))

    @property
    def _least_name(self) -> int:
        """Pixels of the names that come before the differences."""
        return min(self._name, LEAST_NAME)

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Distribute the width again; called by Qt."""
        super().resizeEvent(happened)
        if happened.size().width() != happened.oldSize().width():
            self._share()

    def rename(self, row: int) -> None:
        """Edit a run's name in place."""
        self.setCurrentCell(row, 0)
        item = self.item(row, 0)
        if item is not None:
            self.editItem(item)

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """Handle Return, F2 and Delete; Space toggles the check box, other keys move."""
        row = self.currentRow()
        if row >= 0 and happened.key() == Qt.Key.Key_F2:
            self.rename(row)
            return
        if row >= 0 and happened.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.activated_row.emit(row)
        elif row >= 0 and happened.key() == Qt.Key.Key_Delete:
            self.deleted_row.emit(row)
        else:
            super().keyPressEvent(happened)


def _swatch(color: QColor) -> QIcon:
    pixmap = QPixmap(14, 14)
    pixmap.fill(Qt.GlobalColor.transparent)
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawRoundedRect(0, 5, 14, 4, 2, 2)
    return QIcon(pixmap)
