"""The window for hand-written backward code, with its gradients next to autograd's."""

from collections.abc import Sequence

from msgspec import Struct
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QBrush, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QLayout, QTreeWidget, QTreeWidgetItem, QWidget

from gradscribe.playback.translation import tr
from gradscribe.widgets.base import menus
from gradscribe.widgets.base.boxes import STRETCH, hbox, push_button, vbox
from gradscribe.widgets.base.columns.order import ColumnOrder
from gradscribe.widgets.base.columns.widths import ColumnWidths
from gradscribe.widgets.base.focus.head_keys import HeadKeys
from gradscribe.widgets.base.labels import Label, sheet
from gradscribe.widgets.base.open_windows import resize_within_screen
from gradscribe.widgets.base.splitter import GripSplitter
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor.source_edit import SourceEdit

SIZE = (980, 560)
TITLE = tr("Backward code by hand")
COLUMNS = (tr("Gradient"), tr("At"), tr("By hand"), tr("Autograd"), tr("Result"))
RESULT = 4
EMPTY = tr("Check (Ctrl+Return) compares each gradient that the code assigns with autograd's.")


class CodeRow(Struct, frozen=True):
    """A gradient by hand next to autograd's, as text; ``mood``: ``good``, ``bad`` or neutral."""

    name: str
    result: str
    at: str = ""
    own: str = ""
    true: str = ""
    mood: str = ""


class CodeWindow(QWidget):
    """Backward code on the left, the comparison on the right."""

    check_pressed = Signal(str)
    outline_pressed = Signal()
    row_chosen = Signal(int)

    def __init__(self, owner: QWidget | None = None) -> None:
        super().__init__(owner, Qt.WindowType.Window)
        self.setWindowTitle(TITLE)
        self.setAccessibleName(TITLE)
        resize_within_screen(self, *SIZE)
        self._theme = Theme.load("light")
        self._rows: tuple[CodeRow, ...] = ()
        self.editor = SourceEdit(self._theme, self)
        self.editor.setAccessibleName(tr("Backward code"))
        self.table = self._build_table()
        self.words = Label("words", EMPTY, self)
        tip = tr("Compare with autograd's gradients (Ctrl+Return)")
        self.check = push_button(tr("Check"), self, self._check, "primary", tip=tip)
        tip = tr("Replace the code by a list of the gradients to assign; Ctrl+Z brings it back")
        self.outline = push_button(tr("Start over"), self, self.outline_pressed, tip=tip)
        self.split = GripSplitter(Qt.Orientation.Horizontal, 8)
        left, right = QWidget(self), QWidget(self)
        row = hbox(None, self.check, self.outline, STRETCH, spacing=8)
        vbox(left, (self.editor, 1), row, margins=(12, 12, 4, 12), spacing=8)
        vbox(right, self.words, (self.table, 1), margins=(4, 12, 12, 12), spacing=8)
        for part, share in ((left, 2), (right, 3)):
            self.split.addWidget(part)
            self.split.setStretchFactor(self.split.count() - 1, share)
            part.setMinimumWidth(220)
        self.split.setSizes([SIZE[0] * 2 // 5, SIZE[0] * 3 // 5])
        rows = vbox(self, self.split)
        rows.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        QShortcut(Qt.Key.Key_Escape, self, self.close)
        for key in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(key), self, self._check)

    def _build_table(self) -> QTreeWidget:
        table = QTreeWidget(self)
        table.setColumnCount(len(COLUMNS))
        table.setHeaderLabels(list(COLUMNS))
        table.setRootIsDecorated(False)
        table.setUniformRowHeights(True)
        table.setAccessibleName(tr("Gradients by hand next to autograd's"))
        header = table.header()
        self._widths = ColumnWidths(header, "backward code")
        self._widths.reset.connect(self._fit_columns)
        self._order = ColumnOrder(header)
        self._order.changed.connect(lambda: self.show_rows(self._rows, self.words.said()))
        header.setStretchLastSection(True)
        table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        HeadKeys(table)
        table.itemActivated.connect(lambda item: self._choose(item))
        table.itemClicked.connect(lambda item: self._choose(item))
        menus.offer_copies(table)
        return table

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        self._theme = theme
        set_sheet(self, sheet(theme))
        self.editor.set_theme(theme)
        self.show_rows(self._rows, self.words.said())

    def set_code(self, source: str, *, fresh: bool = False) -> None:
        """Replace the code; undo leads back unless it is ``fresh``."""
        self.editor.set_source(source, fresh=fresh)

    def code(self) -> str:
        """Return the code."""
        return self.editor.source()

    def set_waiting(self, waiting: bool) -> None:
        """Show that the code is being checked."""
        self.check.setEnabled(not waiting)
        self.check.setText(tr("Checking…") if waiting else tr("Check"))

    def show_rows(self, rows: Sequence[CodeRow], words: str) -> None:
        """Show the comparison with a sentence about it."""
        self._rows = tuple(rows)
        self.words.say(words)
        self.table.clear()
        colors = {"good": self._theme.parameter, "bad": self._theme.data}
        for row in self._order.sorted(self._rows, _texts):
            sign = {"good": "✓ ", "bad": "✗ "}.get(row.mood, "")
            texts = [*_texts(row)[:RESULT], sign + row.result]
            item = QTreeWidgetItem(texts)
            for column, text in enumerate(texts):
                item.setToolTip(column, text)
            if row.mood in colors:
                item.setForeground(RESULT, QBrush(colors[row.mood]))
            self.table.addTopLevelItem(item)
        self._fit_columns()

    def _fit_columns(self) -> None:
        with self._widths.fitting() as fit:
            for column in range(len(COLUMNS) - 1):
                head = self.table.header().sectionSizeHint(column)
                fit(column, max(head, self.table.sizeHintForColumn(column)))

    def _check(self) -> None:
        if self.check.isEnabled():
            self.check_pressed.emit(self.code())

    def _choose(self, item: QTreeWidgetItem) -> None:
        self.row_chosen.emit(self.table.indexOfTopLevelItem(item))

    def keyPressEvent(self, press: QKeyEvent) -> None:
        """Open menus with Shift+F10; leave no key to the window behind. Called by Qt."""
        menus.open_by_key(press)
        press.accept()


def _texts(row: CodeRow) -> list[str]:
    return [row.name, row.at, row.own, row.true, row.result]
