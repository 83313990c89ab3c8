"""Table of parameters: sizes of value, gradient and update, sorted and filtered."""

import math
from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRectF,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from gradscribe.playback.tape.parameters import SOME, ParameterRow
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base import menus
from gradscribe.widgets.base.boxes import hbox, vbox
from gradscribe.widgets.base.focus.head_keys import HeadKeys
from gradscribe.widgets.base.labels import Label, sheet, tip
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.tables.cell_text import shown_text
from gradscribe.widgets.tables.row_view import configure_row_view

Index = QModelIndex | QPersistentModelIndex
COLUMNS = (
    tr("name"),
    tr("shape"),
    tr("value"),
    tr("gradient"),
    tr("update"),
    "NaN",
    tr("gradient by step"),
)
TIPS = (
    tr("The parameter's full name"),
    tr("Its shape"),
    tr("Norm of its value"),
    tr("Norm of its gradient"),
    tr("Norm of its last update over the norm of its value"),
    tr("NaN and infinities in value and gradient"),
    tr("Norm of its gradient over the steps, logarithmic"),
)
NAME, SHAPE, VALUE, GRADIENT, UPDATE, NOT_FINITE, COURSE = range(len(COLUMNS))
SORTED = int(Qt.ItemDataRole.UserRole)
"""Role of what a column is sorted by."""
NONE = "\N{EM DASH}"
WIDTHS = (150, 104, 78, 86, 84, 46, 110)
"""Least widths of the columns in pixels; the name and the curves share what is left."""
MOST_POINTS = 120
"""Most points of a curve in a cell."""


def common_prefix(names: Sequence[str]) -> str:
    """Return the modules, with the last point, that all of several names begin with."""
    if len(names) < 2:
        return ""
    parts = [name.split(".")[:-1] for name in names]
    shared = 0
    for column in zip(*parts, strict=False):
        if len(set(column)) > 1:
            break
        shared += 1
    return "".join(f"{part}." for part in parts[0][:shared])


class ParameterModel(QAbstractTableModel):
    """The rows of the table."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: tuple[ParameterRow, ...] = ()
        self.prefix = ""

    def set_rows(self, rows: Sequence[ParameterRow]) -> None:
        """Show these rows; if they are the same parameters, only their numbers change."""
        new = tuple(rows)
        if new == self.rows:
            return
        if [row.name for row in new] == [row.name for row in self.rows]:
            self.rows = new
            last = self.index(len(new) - 1, len(COLUMNS) - 1)
            self.dataChanged.emit(self.index(0, 0), last)
            return
        self.beginResetModel()
        self.rows = new
        self.prefix = common_prefix([row.name for row in new])
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of parameters."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of columns."""
        return 0 if parent.isValid() else len(COLUMNS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a cell's text, full text, number to sort by, or alignment."""
        row, column = self.rows[index.row()], index.column()
        if role == SORTED:
            return sort_key(row, column)
        if role == Qt.ItemDataRole.DisplayRole:
            text = cell_text(row, column)
            return text.removeprefix(self.prefix) if column == NAME else text
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            text = cell_text(row, column) or NONE
            return tip(text) if role == Qt.ItemDataRole.ToolTipRole else text
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return a column's name, what it means, or its alignment."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            shared = (
                tr(" (in {rstrip})", rstrip=self.prefix.rstrip("."))
                if section == NAME and self.prefix
                else ""
            )
            return f"{COLUMNS[section]}{shared}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return TIPS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        return None


def cell_text(row: ParameterRow, column: int) -> str:
    """Return the text of a cell; that of a curve is its numbers in words."""
    numbers = {VALUE: row.value, GRADIENT: row.gradient, UPDATE: row.update}
    if column in numbers:
        number = numbers[column]
        return NONE if number is None else formatting.number(number)
    if column == NAME:
        return row.name
    if column == SHAPE:
        return " × ".join(map(str, row.shape)) or "scalar"
    if column == NOT_FINITE:
        return "some" if row.not_finite == SOME else f"{row.not_finite:,}" if row.not_finite else ""
    finite = [x for x in row.course if math.isfinite(x)]
    if not finite:
        return ""
    return tr(
        "{number} to {number_2}",
        number=formatting.number(min(finite)),
        number_2=formatting.number(max(finite)),
    )


def sort_key(row: ParameterRow, column: int) -> str | float:
    """Return what a column sorts by; a missing number comes first, NaN last."""
    if column == NAME:
        return row.name
    if column == SHAPE:
        return float(math.prod(row.shape))
    if column == NOT_FINITE:
        return math.inf if row.not_finite == SOME else float(row.not_finite)
    last = row.course[-1] if len(row.course) else None
    number = (row.value, row.gradient, row.update, last)[
        (VALUE, GRADIENT, UPDATE, COURSE).index(column)
    ]
    if number is None:
        return -1.0
    return math.inf if math.isnan(number) else number


class _Cells(QStyledItemDelegate):
    """Paints texts and curves."""

    theme: Theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one cell."""
        theme, column, rect = self.theme, index.column(), QRectF(option.rect)
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, theme.selection_soft)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.panel2)
        area = rect.adjusted(6, 0, -6, 0)
        if column == COURSE:
            model = index.model()
            assert isinstance(model, QSortFilterProxyModel)
            source = model.sourceModel()
            assert isinstance(source, ParameterModel)
            row = source.rows[model.mapToSource(index).row()]
            self._curve(painter, row.course, area.adjusted(0, 4, 0, -4))
        else:
            text = str(index.data())
            font = theme.font(13, 600 if column == NAME else 400)
            painter.setFont(font)
            wrong = column == NOT_FINITE or text in ("NaN", "nan", "inf", "∞")
            colors = {GRADIENT: theme.backward, SHAPE: theme.ink2}
            painter.setPen(theme.error if wrong else colors.get(column, theme.ink))
            short = shown_text(text, column == NAME, QFontMetrics(font), area.width())
            painter.drawText(
                area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, short
            )
        painter.restore()

    def _curve(self, painter: QPainter, course: Sequence[float], area: QRectF) -> None:
        """Draw norms over the steps, on a logarithmic axis of at least one decade."""
        numbers = list(course)[:: max(1, -(-len(course) // MOST_POINTS))]
        logs = [math.log10(x) if 0 < x < math.inf else math.nan for x in numbers]
        seen = [x for x in logs if not math.isnan(x)]
        if not seen:
            return
        middle = (min(seen) + max(seen)) / 2
        half = max(0.5, (max(seen) - min(seen)) / 2)
        across = area.width() / max(1, len(logs) - 1)
        points = [
            QPointF(
                area.left() + n * across,
                area.center().y() - (x - middle) / half * area.height() / 2,
            )
            for n, x in enumerate(logs)
            if not math.isnan(x)
        ]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.theme.backward, self.theme.stroke(1.4)))
        if len(points) > 1:
            painter.drawPolyline(QPolygonF(points))
        painter.setBrush(self.theme.backward)
        painter.drawEllipse(points[-1], 1.8, 1.8)


class ParameterTable(QWidget):
    """The table with a field that filters by name; a click on a row emits `picked`."""

    picked = Signal(str)
    """The full name of a parameter."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._step = ""
        self.model = ParameterModel(self)
        self.sorted = QSortFilterProxyModel(self)
        self.sorted.setSourceModel(self.model)
        self.sorted.setSortRole(SORTED)
        self.sorted.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._cells = _Cells(self)
        self._cells.theme = Theme.load("light")
        self.filter = QLineEdit(self)
        self.filter.setPlaceholderText(tr("Filter by name"))
        self.filter.setAccessibleName(tr("Filter by name"))
        self.filter.setClearButtonEnabled(True)
        self.filter.textChanged.connect(self._filter)
        self.filter.returnPressed.connect(self._pick_first)
        self.count = Label("caption", "", self).fit_text()
        self.view = QTableView(self)
        self._configure_view()
        column = vbox(self, margins=(12, 10, 8, 8), spacing=6)
        row = hbox(None, spacing=8)
        row.addWidget(self.filter, 1)
        row.addWidget(self.count)
        column.addLayout(row)
        column.addWidget(self.view, 1)
        self.set_theme(Theme.load("light"))
        self._say_count()

    def _configure_view(self) -> None:
        view = self.view
        view.setModel(self.sorted)
        view.setItemDelegate(self._cells)
        self._widths = configure_row_view(view, tr("Parameters"), "parameters")
        self._widths.reset.connect(self._fit_columns)
        view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setSortingEnabled(True)
        HeadKeys(view)
        # The order of use, until a column is chosen.
        view.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
        view.viewport().installEventFilter(self)
        self._fit_columns()
        view.clicked.connect(self._pick)
        view.activated.connect(self._pick)
        menus.RowMenu(view, self._offer)

    def _offer(self, index: QModelIndex, at: QPoint) -> None:
        """Offer what can be done with a row."""
        name = self._row(index.row()).name
        entries = (
            (tr("Show in the graph"), lambda: self.picked.emit(name)),
            ("", lambda: None),
            (tr("Copy the name"), lambda: menus.copy_text(name)),
            (tr("Copy the row"), lambda: menus.copy_text(self._text(index.row()))),
            (tr("Copy the table"), lambda: menus.copy_text(self.text())),
        )
        menus.pop_up(self, at, entries)

    def text(self) -> str:
        """Return the rows that are shown, with their full names, separated by tabs."""
        rows = [self._text(at) for at in range(self.sorted.rowCount())]
        return "\n".join(("\t".join(COLUMNS[:COURSE]), *rows))

    def _text(self, at: int) -> str:
        cells = [str(self.sorted.index(at, column).data()) for column in range(SHAPE, COURSE)]
        return "\t".join((self._row(at).name, *cells))

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Adapt the columns whenever the view's width changes."""
        if event.type() == QEvent.Type.Resize:
            self._fit_columns()
        return False

    def keyPressEvent(self, pressed: QKeyEvent) -> None:
        """Go from the filter to the table with the down arrow; called by Qt."""
        if pressed.key() == Qt.Key.Key_Down and self.filter.hasFocus():
            self.view.setFocus()
            if not self.view.currentIndex().isValid():
                self.view.selectRow(0)
        else:
            super().keyPressEvent(pressed)

    def _pick_first(self) -> None:
        if self.filter.text() and self.sorted.rowCount():
            self.view.selectRow(0)
            self._pick(self.sorted.index(0, NAME))

    def _fit_columns(self) -> None:
        scale = self._cells.theme.scale
        widths = [round(width * scale) for width in WIDTHS]
        spare = max(0, self.view.viewport().width() - sum(widths))
        widths[NAME] += spare - spare // 3
        widths[COURSE] += spare // 3
        with self._widths.fitting() as fit:
            for column, width in enumerate(widths):
                fit(column, width)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        self._cells.theme = theme
        set_sheet(self, sheet(theme))
        rows = self.view.verticalHeader()
        rows.setMinimumSectionSize(10)
        rows.setDefaultSectionSize(QFontMetrics(theme.font(13)).height() + 9)
        self._fit_columns()
        self.view.viewport().update()

    def set_rows(self, rows: Sequence[ParameterRow]) -> None:
        """Show these parameters; order, filter and selection stay."""
        self.model.set_rows(rows)
        self._say_count()

    def show_step(self, step: int | None) -> None:
        """Say which step the numbers are of; None: say nothing."""
        self._step = "" if step is None else tr(" · step {step:,}", step=step)
        self._say_count()

    def shown_names(self) -> list[str]:
        """Return the full names of the rows that are shown, in their order."""
        return [self._row(at).name for at in range(self.sorted.rowCount())]

    def _row(self, at: int) -> ParameterRow:
        return self.model.rows[self.sorted.mapToSource(self.sorted.index(at, 0)).row()]

    def _filter(self, text: str) -> None:
        self.sorted.setFilterFixedString(text.strip())
        self._say_count()

    def _say_count(self) -> None:
        shown, known = self.sorted.rowCount(), len(self.model.rows)
        if not known:
            self.count.say(tr("No parameters yet"))
        elif shown < known:
            self.count.say(
                tr("{shown:,} of {known:,}{step}", shown=shown, known=known, step=self._step)
            )
        else:
            self.count.say(
                ngettext("{count:,} parameter tensor", "{count:,} parameter tensors", known)
                + self._step
            )

    def _pick(self, index: QModelIndex) -> None:
        self.picked.emit(self._row(index.row()).name)
