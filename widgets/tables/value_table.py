"""Every named value with its gradient, as a table."""

import re
from collections.abc import Iterable, Sequence

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRectF,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from gradscribe.playback.tape.track import VariableRow
from gradscribe.playback.text.fitting import forms
from gradscribe.playback.translation import tr
from gradscribe.widgets.base import menus
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.columns.order import ColumnOrder
from gradscribe.widgets.base.focus.head_keys import HeadKeys
from gradscribe.widgets.base.labels import Heading, sheet, tip
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.tables.cell_text import shown_text
from gradscribe.widgets.tables.parameter_table import common_prefix
from gradscribe.widgets.tables.row_view import configure_row_view

Index = QModelIndex | QPersistentModelIndex
COLUMNS = (tr("name"), tr("value"), tr("gradient"))
NONE, PENDING = "\N{EM DASH}", "\N{HORIZONTAL ELLIPSIS}"
PAD = 7
"""Horizontal padding of a cell's text, in pixels."""
MIN_NAME_WIDTH = 72
"""Minimum width of the name column in pixels."""
LONGEST_LAST_PART = "weight"
"""A longer last part of a name gets no more space than this."""
MIN_VALUE_WIDTH, MIN_GRADIENT_WIDTH = 55, 64
"""Minimum widths of value and gradient, each next to a long text of the other."""
TYPICAL_TEXTS = ("name", "−0.0000", "∇ 0.0000")
"""Texts that the columns fit at least, so that widths are stable while the tape plays."""
MAX_MEASURED = 200
"""Maximum number of rows measured for the column widths."""
MARGINS = (12, 14, 2, 10)
"""Left, top, right, bottom."""
_DIGITS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def display_name(name: str) -> str:
    """Return ``x₁`` for ``x1``; only a single letter followed by digits is changed."""
    if re.fullmatch(r"[^\W\d_]\d+", name):
        return name[0] + name[1:].translate(_DIGITS)
    return name


def gradient_text(row: VariableRow) -> str:
    """Return the gradient, ``…`` while it is pending, or a dash without one."""
    if row.pending:
        return PENDING
    return row.gradient or NONE


def cell_texts(row: VariableRow, prefix: str = "") -> tuple[str, str, str]:
    """Return the texts of the three cells of a row, its name without a ``prefix``."""
    return display_name(row.name.removeprefix(prefix)), row.value, gradient_text(row)


def column_widths(
    wanted: Sequence[int],
    room: int,
    least_value: int = 0,
    least_name: int = MIN_NAME_WIDTH,
    least_gradient: int = MIN_GRADIENT_WIDTH,
) -> list[int]:
    """Distribute ``room`` pixels to name, value and gradient, which would need ``wanted``.

    Spare pixels are divided among all; if there are too few, the name shrinks first, down to
    ``least_name`` or a quarter, then the longer of the other two. Shapes are shown whole or not at
    all: the value has ``least_value`` pixels, unless the gradient gets less than
    ``least_gradient``.
    """
    name, value, gradient = wanted
    spare = room - name - value - gradient
    if spare >= 0:
        return [name + spare // 3, value + spare // 3, gradient + spare - 2 * (spare // 3)]
    name = max(min(name, max(least_name, room // 4)), name + spare)
    left = max(2, room - name)
    if value + gradient > left:
        least = max(min(least_value, left - least_gradient), MIN_VALUE_WIDTH)
        value = min(value, left - 1, max(least, left - min(gradient, 3 * left // 5)))
        gradient = left - value
    return [name, value, gradient]


def _least_names(names: Iterable[str]) -> set[str]:
    """Return the names cut as far as they say something: ``m….weight`` and ``c….weight`` differ."""
    parts = {name.rpartition(".")[::2] for name in names}
    return {f"{head[0]}….{last[: len(LONGEST_LAST_PART)]}" if head else "" for head, last in parts}


def _tight(value: str) -> str:
    """Return a shape in its first shorter form, and any other text as it is."""
    return (forms(value) or (value,))[0] if "×" in value else value


class ValueModel(QAbstractTableModel):
    """The table model: name, value, gradient; rows are updated in place if possible."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: list[VariableRow] = []
        self.prefix = ""
        """Modules that the names of all parameters begin with, left out."""

    def set_rows(self, rows: Sequence[VariableRow]) -> None:
        """Replace the rows, with change signals only for differences."""
        new, old = list(rows), self.rows
        # A name keeps a module: it would pass for a variable of the program without any.
        modules = [row.name.rpartition(".")[0] for row in new if "." in row.name]
        prefix = common_prefix(modules)
        is_cut_otherwise, self.prefix = prefix != self.prefix, prefix
        head = 0
        while head < min(len(new), len(old)) and new[head].name == old[head].name:
            head += 1
        tail = 0
        while tail < min(len(new), len(old)) - head and new[-1 - tail].name == old[-1 - tail].name:
            tail += 1
        self._splice(head, len(old) - tail, new[head : len(new) - tail])
        pairs = enumerate(zip(new, self.rows, strict=True))
        changed = [at for at, (row, known) in pairs if row is not known and row != known]
        self.rows[:] = new
        # A signal for each of thousands of rows would block the window.
        if is_cut_otherwise and new:
            self.dataChanged.emit(self.index(0, 0), self.index(len(new) - 1, 0))
        if changed:
            self.dataChanged.emit(self.index(changed[0], 0), self.index(changed[-1], 2))

    def _splice(self, start: int, stop: int, rows: list[VariableRow]) -> None:
        if stop > start:
            self.beginRemoveRows(QModelIndex(), start, stop - 1)
            del self.rows[start:stop]
            self.endRemoveRows()
        if rows:
            self.beginInsertRows(QModelIndex(), start, start + len(rows) - 1)
            self.rows[start:start] = rows
            self.endInsertRows()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of values."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return three: name, value, gradient."""
        return 0 if parent.isValid() else len(COLUMNS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the text of a cell, or its meaning as tooltip."""
        row = self.rows[index.row()]
        text = cell_texts(row, self.prefix)[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return text
        if role == Qt.ItemDataRole.ToolTipRole:
            if index.column() < 2:
                return tip((row.name, row.value)[index.column()])
            return {PENDING: tr("Backward has not reached this yet"), NONE: tr("No gradient")}.get(
                text, text
            )
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return the names of the columns, left-aligned."""
        if orientation == Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return COLUMNS[section]
            if role == Qt.ItemDataRole.ToolTipRole and section == 0 and self.prefix:
                return tip(tr("Names in {rstrip} without it", rstrip=self.prefix.rstrip(".")))
            if role == Qt.ItemDataRole.TextAlignmentRole:
                return int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        return None


class _Cells(QStyledItemDelegate):
    """Paints a cell: name bold, gradient in the backward colour, selection highlighted."""

    theme: Theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one cell."""
        theme, column = self.theme, index.column()
        rect = QRectF(option.rect)
        state = option.state
        painter.save()
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, theme.selection_soft)
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.panel2)
        text = str(index.data())
        font, color = theme.font(13), theme.ink
        if column == 0 or (column == 2 and text != NONE):
            font.setWeight(font.Weight.DemiBold)
        if column == 2:
            color = theme.ink3 if text == NONE else theme.backward
        elif column == 1 and text in (NONE, PENDING):
            color = theme.ink3
        painter.setFont(font)
        painter.setPen(color)
        area = rect.adjusted(4, 0, -2, 0)
        shown = shown_text(text, column == 0, QFontMetrics(font), area.width())
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
        painter.restore()


class ValueTable(QWidget):
    """Table of values and gradients; a click on a row emits `picked`."""

    picked = Signal(int)
    """A value id."""
    menu_requested = Signal(QPoint, list)
    """Open the menu of the picked value at a global point, with actions of the table first."""
    row_count_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heading = Heading(tr("Values and gradients"), tr("click a row to find its node"), self)
        self._model = ValueModel(self)
        self._cells = _Cells(self)
        self._bold = QFontMetrics(self.font())
        self._rows: Sequence[VariableRow] = ()
        self._advances: dict[str, int] = {}
        """Cached widths in pixels of texts in the bold font."""
        self.view = QTableView(self)
        self._configure_view()
        vbox(self, self.heading, (self.view, 1), margins=MARGINS, spacing=8)
        self.view.clicked.connect(self._on_clicked)
        self.view.activated.connect(self._on_clicked)
        menus.RowMenu(self.view, self._offer)
        self.set_theme(Theme.load("light"))

    def _configure_view(self) -> None:
        view = self.view
        view.setModel(self._model)
        view.setItemDelegate(self._cells)
        self._widths = configure_row_view(view, tr("Values and gradients"), "values")
        self._widths.reset.connect(self._fit_columns)
        header = view.horizontalHeader()
        header.setHighlightSections(False)
        self._order = ColumnOrder(header)
        HeadKeys(view)
        self._order.changed.connect(lambda: self.set_rows(self._rows))
        view.viewport().installEventFilter(self)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        self._cells.theme = theme
        self._bold = QFontMetrics(theme.font(13, 600))
        self._advances.clear()
        set_sheet(self, sheet(theme))
        rows = self.view.verticalHeader()
        rows.setMinimumSectionSize(10)
        rows.setDefaultSectionSize(QFontMetrics(theme.font(13)).height() + 9)
        self.view.viewport().update()
        self._fit_columns()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Adapt the columns whenever the view's width changes."""
        if event.type() == QEvent.Type.Resize:
            self._fit_columns()
        return False

    def _fit_columns(self) -> None:
        """Set the column widths from the texts; if they do not fit, names shrink first."""
        prefix, rows = self._model.prefix, self._model.rows[:MAX_MEASURED]
        texts = (TYPICAL_TEXTS, *(cell_texts(row, prefix) for row in rows))
        cells = list(zip(*texts, strict=True))
        wanted = [max(map(self._advance, set(texts))) for texts in cells]
        padded = [width + PAD for width in wanted]
        room = self.view.viewport().width()
        least = 0
        if sum(padded) > room:
            # A shape without its spaces says all of it; a name that is cut does not.
            tight = {TYPICAL_TEXTS[1], *(_tight(row.value) for row in rows)}
            padded[1] = min(padded[1], PAD + max(map(self._advance, tight)))
            shapes = {(forms(row.value) or ("",))[0] for row in rows if "×" in row.value}
            # Values are not bold.
            thin = QFontMetrics(self._cells.theme.font(13)).horizontalAdvance
            least = PAD + max(map(thin, shapes), default=0)
        name = max(
            MIN_NAME_WIDTH, PAD + max(self._advance(text) for text in _least_names(cells[0]))
        )
        gradient = max(MIN_GRADIENT_WIDTH, PAD + self._advance(TYPICAL_TEXTS[2]))
        with self._widths.fitting() as fit:
            for column, width in enumerate(column_widths(padded, room, least, name, gradient)):
                fit(column, width)

    def _advance(self, text: str) -> int:
        """Return the width of a text, cached since most texts were shown before."""
        found = self._advances.get(text)
        if found is None:
            if len(self._advances) >= 20 * MAX_MEASURED:
                self._advances.clear()
            found = self._advances[text] = self._bold.horizontalAdvance(text)
        return found

    def set_rows(self, rows: Sequence[VariableRow]) -> None:
        """Show these rows; scroll position and selected value stay."""
        selected, before = self.selected(), self.row_count()
        self._rows = rows
        self._model.set_rows(self._order.sorted(rows, cell_texts))
        self._fit_columns()
        if selected is not None and self.selected() is None:
            self.select(selected)
        if self.row_count() != before:
            self.row_count_changed.emit()

    def row_count(self) -> int:
        """Return the number of rows."""
        return len(self._model.rows)

    def height_of(self, rows: int) -> int:
        """Return the height in pixels at which that many rows are shown without scrolling."""
        each = self.view.verticalHeader().defaultSectionSize()
        if self.isVisible():
            # Measured: frames and heads are as high as the style sheet makes them.
            return self.height() - self.view.viewport().height() + rows * each
        _, top, _, bottom = MARGINS
        header = self.view.horizontalHeader().sizeHint().height()
        return top + bottom + header + rows * each + 2 * self.view.frameWidth()

    def set_position(self, position: int) -> None:
        """Store the position as a property; the rows were already set for it."""
        self.setProperty("position", position)

    def selected(self) -> int | None:
        """Return the id of the value whose row is selected."""
        chosen = self.view.selectionModel().selectedRows()
        return self._model.rows[chosen[0].row()].value_id if chosen else None

    def select(self, value_id: int | None) -> None:
        """Select the row of a value, or none, and scroll to it; emits nothing."""
        for row, entry in enumerate(self._model.rows):
            if entry.value_id == value_id:
                index = self._model.index(row, 0)
                flags = QItemSelectionModel.SelectionFlag
                self.view.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
                self.view.scrollTo(index)
                return
        self.view.clearSelection()

    def _offer(self, index: QModelIndex, at: QPoint) -> None:
        """Pick a row, and offer its menu."""
        self._on_clicked(index)
        row = cell_texts(self._model.rows[index.row()])
        first = menus.actions(
            self,
            (tr("Copy the row"), lambda: menus.copy_text("\t".join(row))),
            (tr("Copy the table"), self.copy_table),
        )
        self.menu_requested.emit(at, first)

    def copy_table(self) -> None:
        """Put all rows on the clipboard, separated by tabs."""
        rows = [COLUMNS, *map(cell_texts, self._model.rows)]
        menus.copy_text("\n".join("\t".join(row) for row in rows))

    def _on_clicked(self, index: QModelIndex) -> None:
        self.picked.emit(self._model.rows[index.row()].value_id)
