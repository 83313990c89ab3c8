"""The ledger: every event of the tape as a line of text."""

from bisect import bisect_right
from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QPolygonF, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from gradscribe.playback.tape.track import LedgerRow
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base import menus
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.labels import Heading, sheet, tip
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme

Index = QModelIndex | QPersistentModelIndex
ICON_WIDTH = 30.0


class LedgerModel(QAbstractListModel):
    """The list model; rows are only asked for as they come into view."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.entries: Sequence[LedgerRow] = ()
        self.current = -1
        """The row of the latest event; -1 before the first."""

    def set_entries(self, entries: Sequence[LedgerRow]) -> None:
        """Replace all rows."""
        self.beginResetModel()
        self.entries = entries  # not copied: most are never read
        self.current = -1
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of entries."""
        return 0 if parent.isValid() else len(self.entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the text of an entry, with its source line for tooltip and screen readers."""
        entry = self.entries[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.text
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            full = (
                tr("{text} (line {line})", text=entry.text, line=entry.line)
                if entry.line
                else entry.text
            )
            return tip(full) if role == Qt.ItemDataRole.ToolTipRole else full
        return None


class _Rows(QStyledItemDelegate):
    """Paints a row: icon, text, source line; future events are paler."""

    theme: Theme
    model: LedgerModel

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        """Return the height of a row."""
        return QSize(80, QFontMetrics(self.theme.font(13)).height() + 9)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one row."""
        theme, row, current = self.theme, index.row(), self.model.current
        entry = self.model.entries[row]
        rect = QRectF(option.rect).adjusted(0, 1, -4, -1)
        state = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if row == current:
            painter.setBrush(soft_color(theme, entry.kind))
            painter.drawRoundedRect(rect, 6, 6)
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.setBrush(theme.panel2)
            painter.drawRoundedRect(rect, 6, 6)
        painter.setOpacity(1.0 if row <= current else 0.72)
        draw_kind(painter, theme, entry.kind, QPointF(rect.left() + 15, rect.center().y()))
        painter.setOpacity(1.0)
        painter.setFont(theme.font(13, 600 if row == current else 400))
        painter.setPen(theme.ink if row <= current else theme.ink3)
        metrics = QFontMetrics(painter.font())
        area = rect.adjusted(ICON_WIDTH, 0, -8, 0)
        if entry.line:
            painter.save()
            painter.setFont(theme.font(12))
            painter.setPen(theme.ink3)
            painter.drawText(area, _RIGHT, str(entry.line))
            painter.restore()
            area.adjust(0, 0, -30, 0)
        mode = Qt.TextElideMode.ElideRight
        painter.drawText(area, _LEFT, metrics.elidedText(entry.text, mode, int(area.width())))
        painter.restore()


_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
_BACKWARD = ("backward", "node", "accumulate", "end", "zero_grad", "grad")


def kind_color(theme: Theme, kind: str) -> QColor:
    """Return the colour of a kind of event."""
    if kind in _BACKWARD:
        return theme.backward
    return {
        "leaf": theme.parameter,
        "op": theme.forward,
        "enter": theme.module,
        "leave": theme.module,
        "step": theme.parameter,
        "error": theme.data,
    }.get(kind, theme.ink2)


def soft_color(theme: Theme, kind: str) -> QColor:
    """Return the quiet fill for the current row of that kind."""
    if kind in _BACKWARD:
        return theme.backward_soft
    if kind == "error":
        return theme.data_soft
    return theme.parameter_soft if kind == "step" else theme.selection_soft


def draw_kind(painter: QPainter, theme: Theme, kind: str, centre: QPointF) -> None:
    """Draw the icon of a kind of event, about 12 pixels wide; every kind has its own shape."""
    color = kind_color(theme, kind)
    painter.save()
    painter.translate(centre)
    pen = QPen(color, 1.8)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if kind in _FILLED:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawPolygon(_polygon(_FILLED[kind]))
    elif kind == "op":
        painter.drawRoundedRect(QRectF(-5, -4, 10, 8), 2.5, 2.5)
    elif kind == "zero_grad":
        painter.drawEllipse(QPointF(0, 0), 4.5, 4.5)
        painter.drawLine(QPointF(-4.5, 4.5), QPointF(4.5, -4.5))
    else:
        for line in _LINES.get(kind, _LINES["print"]):
            painter.drawPolyline(_polygon(line))
    painter.restore()


def _polygon(points: Sequence[tuple[float, float]]) -> QPolygonF:
    return QPolygonF([QPointF(x, y) for x, y in points])


_FILLED: dict[str, list[tuple[float, float]]] = {
    "leaf": [(0, -5.5), (5.5, 0), (0, 5.5), (-5.5, 0)],
    "node": [(0, -5.5), (5, 5), (0, 2.5), (-5, 5)],
    "step": [(-5.5, 4.5), (0, -5), (5.5, 4.5)],
}
_LINES: dict[str, list[list[tuple[float, float]]]] = {
    "enter": [[(-2, -5), (-5, -5), (-5, 5), (-2, 5)], [(-1, 0), (5, 0)], [(2, -3), (5, 0), (2, 3)]],
    "leave": [[(2, -5), (5, -5), (5, 5), (2, 5)], [(-5, 0), (1, 0)], [(-2, -3), (1, 0), (-2, 3)]],
    "backward": [[(-5, 1), (0, -4), (5, 1)], [(-5, 6), (0, 1), (5, 6)]],
    "end": [[(-5, -5), (5, -5)], [(-4, 2), (0, -2), (4, 2)], [(0, -2), (0, 5)]],
    "accumulate": [[(-5, 0), (5, 0)], [(0, -5), (0, 5)]],
    "grad": [[(-5, 4), (-1, 4), (5, -2), (2, -5), (-4, 1), (-5, 4)]],
    "write": [[(-5, 4), (-2, 4), (5, -3), (3, -5), (-4, 2), (-5, 4)]],
    "gap": [[(-5, -5), (0, 0), (-5, 5)], [(0, -5), (5, 0), (0, 5)]],
    "print": [[(-5, -4), (5, -4)], [(-5, 0), (3, 0)], [(-5, 4), (4, 4)]],
    "error": [[(0, -5), (0, 1)], [(0, 5), (0, 5.1)]],
}


class Ledger(QWidget):
    """List of events; the latest is highlighted and scrolled into view."""

    picked = Signal(int)
    """The position to go to."""
    line_requested = Signal(int)
    menu_requested = Signal(QPoint, list)
    """Open the menu of an event at a global point, with these actions first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heading = Heading(tr("Events"), tr("every event in order"), self)
        self._model = LedgerModel(self)
        self._rows = _Rows(self)
        self._rows.model = self._model
        self.view = QListView(self)
        self.view.setModel(self._model)
        self.view.setItemDelegate(self._rows)
        self.view.setUniformItemSizes(True)
        self.view.setMouseTracking(True)
        self.view.setFrameShape(QListView.Shape.NoFrame)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.view.setAccessibleName(tr("Events"))
        vbox(self, self.heading, (self.view, 1), margins=(16, 14, 10, 10), spacing=8)
        self.view.clicked.connect(self._on_clicked)
        self.view.activated.connect(self._on_clicked)
        menus.RowMenu(self.view, self._offer)
        self.set_theme(Theme.load("light"))

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        self._rows.theme = theme
        set_sheet(self, sheet(theme))
        self.view.viewport().update()

    def set_rows(self, entries: Sequence[LedgerRow]) -> None:
        """Show the entries of a tape, in order of their positions."""
        self._model.set_entries(entries)
        self._update_heading()

    def set_position(self, position: int) -> None:
        """Highlight the latest entry at ``position``, and scroll to it."""
        old, new = self._model.current, self._row_at(position)
        if new == old:
            return
        self._model.current = new
        # Qt lays out all rows to find one, which is wasted while the ledger is hidden.
        if self.isVisible():
            self._show_current()
        self._update_heading()

    def _show_current(self) -> None:
        if self._model.current >= 0:
            index = self._model.index(self._model.current, 0)
            self.view.setCurrentIndex(index)
            self._reveal(index)
        else:
            self.view.clearSelection()
            self.view.scrollToTop()
        self.view.viewport().update()

    def showEvent(self, event: QShowEvent) -> None:
        """Scroll to the highlighted row; called by Qt."""
        super().showEvent(event)
        self._show_current()

    def _row_at(self, position: int) -> int:
        """Return the row of the latest entry at a position, -1 for none."""
        entries = self._model.entries
        return bisect_right(entries, position, key=lambda entry: entry.position) - 1

    def current(self) -> int:
        """Return the highlighted row, -1 for none."""
        return self._model.current

    def _reveal(self, index: QModelIndex) -> None:
        area, row = self.view.viewport().rect(), self.view.visualRect(index)
        if not area.adjusted(0, row.height(), 0, -row.height()).contains(row):
            near = area.adjusted(0, -area.height() // 4, 0, area.height() // 4).intersects(row)
            hint = QAbstractItemView.ScrollHint
            self.view.scrollTo(index, hint.EnsureVisible if near else hint.PositionAtCenter)

    def _update_heading(self) -> None:
        total = len(self._model.entries)
        note = (
            ngettext("{count:,} event", "{count:,} events", total)
            if total
            else tr("every event in order")
        )
        if total and self._model.current >= 0:
            note = tr("{value:,} of {note}", value=self._model.current + 1, note=note)
        self.heading.set_text(tr("Events"), note)

    def _offer(self, index: QModelIndex, at: QPoint) -> None:
        """Offer the menu of an event."""
        entry = self._model.entries[index.row()]
        entries = [
            (tr("Go to this event"), lambda: self.picked.emit(entry.position)),
            (tr("Copy the row"), lambda: menus.copy_text(entry.text)),
        ]
        if entry.line:
            line = (
                tr("Show line {line}", line=entry.line),
                lambda: self.line_requested.emit(entry.line),
            )
            entries.insert(1, line)
        first = menus.actions(self, *entries)
        self.menu_requested.emit(at, first)

    def _on_clicked(self, index: QModelIndex) -> None:
        self.picked.emit(self._model.entries[index.row()].position)
