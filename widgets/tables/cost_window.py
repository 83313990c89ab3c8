"""Window with measured costs: a sentence on what they are of, and a table with bars."""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QShortcut
from PySide6.QtWidgets import (
    QLayout,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from gradscribe.playback.text.cost_words import COLUMNS, CostCells
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import STRETCH, hbox, push_button, vbox
from gradscribe.widgets.base.columns.order import ColumnOrder
from gradscribe.widgets.base.columns.widths import ColumnWidths
from gradscribe.widgets.base.focus.head_keys import HeadKeys
from gradscribe.widgets.base.labels import Heading, Label, sheet
from gradscribe.widgets.base.open_windows import resize_within_screen
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme

SIZE = (900, 340)
WAITING = tr("Measuring…")
TIME = 1
"""The column with the time, which has a bar."""
SHARE = Qt.ItemDataRole.UserRole
BAR = 4.0


class _Bar(QStyledItemDelegate):
    """Draws a bar under a cell's text, as long as its share."""

    def __init__(self, owner: "CostWindow") -> None:
        super().__init__(owner)
        self._owner = owner

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        super().paint(painter, option, index)
        share = index.data(SHARE)
        if isinstance(share, float):
            room = QRectF(option.rect).adjusted(3, 0, -6, 0)
            width = max(1.0, room.width() * share)
            bar = QRectF(room.left(), room.bottom() - BAR, width, BAR - 1)
            painter.fillRect(bar, self._owner.theme.forward)


class CostWindow(QWidget):
    """Measured costs of the program's computation."""

    again_pressed = Signal()

    def __init__(self, owner: QWidget | None = None) -> None:
        super().__init__(owner, Qt.WindowType.Window)
        self.theme = Theme.load("light")
        resize_within_screen(self, *SIZE)
        self.heading = Heading("", "", self)
        self.words = Label("words", "", self).selectable()
        self.table = QTreeWidget(self)
        self.table.setColumnCount(len(COLUMNS))
        self.table.setHeaderLabels(list(COLUMNS))
        self.table.setRootIsDecorated(False)
        self.table.setUniformRowHeights(True)
        self.table.setItemDelegateForColumn(TIME, _Bar(self))
        self._rows: Sequence[CostCells] = ()
        self._widths = ColumnWidths(self.table.header(), "costs")
        self._widths.reset.connect(self._fit_columns)
        self._order = ColumnOrder(self.table.header())
        self._order.changed.connect(lambda: self.show_costs(self._rows, self.words.said()))
        self.table.header().setStretchLastSection(True)
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        HeadKeys(self.table)
        policy = self.table.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.table.setSizePolicy(policy)
        tip = tr("Measure the shown program again")
        self.again = push_button(tr("Measure again"), self, self.again_pressed, tip=tip)
        buttons = hbox(None, self.again, STRETCH)
        rows = vbox(
            self,
            self.heading,
            self.words,
            (self.table, 1),
            buttons,
            margins=(16, 14, 16, 14),
            spacing=10,
        )
        rows.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        QShortcut(Qt.Key.Key_Escape, self, self.close)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        self.theme = theme
        set_sheet(self, sheet(theme))
        self.table.viewport().update()
        self._fit_columns()

    def set_topic(self, title: str) -> None:
        """Name what is measured."""
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.table.setAccessibleName(title)
        self.heading.set_text(title)

    def set_waiting(self, waiting: bool) -> None:
        """Show that a measurement is on its way; its table is empty meanwhile."""
        self.again.setEnabled(not waiting)
        if waiting:
            self.show_costs((), WAITING)

    def show_costs(self, rows: Sequence[CostCells], words: str) -> None:
        """Show the table, and what it is of."""
        self.words.say(words)
        self._rows = rows
        self.table.clear()
        if rows:
            # Before there are rows: those of hidden columns would get no height.
            for column in range(len(COLUMNS)):
                self.table.setColumnHidden(column, not any(row.cells[column] for row in rows))
        for row in self._order.sorted(rows, lambda row: row.cells):
            item = QTreeWidgetItem(list(row.cells))
            item.setData(TIME, SHARE, row.share)
            for column, text in enumerate(row.cells):
                item.setToolTip(column, text)
            self.table.addTopLevelItem(item)
        self.table.setVisible(bool(rows))
        self._fit_columns()

    def _fit_columns(self) -> None:
        with self._widths.fitting() as fit:
            for column in range(len(COLUMNS)):
                if not self.table.isColumnHidden(column):
                    head = self.table.header().sectionSizeHint(column)
                    fit(column, max(head, self.table.sizeHintForColumn(column)))
        self.table.setColumnWidth(TIME, max(120, self.table.columnWidth(TIME)))
