"""Changes from the run before: the edited lines, then all that differs in order of execution."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QBrush, QResizeEvent
from PySide6.QtWidgets import (
    QPushButton,
    QScrollArea,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gradscribe.playback.compare.run_changes import ChangeKind, RunChange
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr
from gradscribe.widgets.base import menus
from gradscribe.widgets.base.boxes import make_scrollable, push_button, vbox
from gradscribe.widgets.base.columns.order import ColumnOrder
from gradscribe.widgets.base.columns.widths import ColumnWidths
from gradscribe.widgets.base.flow_layout import FlowLayout
from gradscribe.widgets.base.focus.head_keys import HeadKeys
from gradscribe.widgets.base.labels import Label, sheet
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor.diff_lines import DiffLines

MAX_ROWS = 300
"""Most changes listed, the first ones; the rest is counted."""
LOW = 200
"""Height in pixels below which the columns have no titles."""
LEAST = 76
"""Least height in pixels of the rows: below it the pane is scrolled."""
FIRST = tr("Edit the program: after each run, what changed since the run before is listed here.")
WIDEST = 170
"""Most pixels of a column before the last."""
LINE, NAME, WORDS = range(3)
_KINDS: dict[ChangeKind, str] = {
    "value": "",
    "gradient": tr("gradient"),
    "op": tr("call"),
    "setting": tr("setting"),
    "print": tr("printed"),
    "error": tr("error"),
    "finding": tr("finding"),
}
_CHANGE = Qt.ItemDataRole.UserRole


class ChangesPane(QWidget):
    """The edit since the run before, and all that differs because of it."""

    picked = Signal(object)
    """Carries the `RunChange` of the row that was chosen."""
    compare_pressed = Signal()
    runs_pressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = Theme.load("light")
        self.edit = Label("section", "", self)
        self.counts = Label("caption", FIRST, self)
        self._strips: list[DiffLines] = []
        self._strips_column = vbox(None, spacing=2)
        self.rows = QTreeWidget(self)
        self.rows.setColumnCount(3)
        self.rows.setHeaderLabels([tr("Line"), tr("Tensor"), tr("Before → now")])
        self.rows.setRootIsDecorated(False)
        self.rows.setUniformRowHeights(True)
        self.rows.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.rows.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.rows.setAccessibleName(tr("Changes since the run before, in order of execution"))
        header = self.rows.header()
        self._widths = ColumnWidths(header, "changes")
        self._widths.reset.connect(self._fit_columns)
        self._order = ColumnOrder(header)
        self._order.changed.connect(self._fill)
        self._changes: Sequence[RunChange] = ()
        header.setStretchLastSection(True)
        HeadKeys(self.rows)
        self.rows.currentItemChanged.connect(self._pick)
        self.rows.itemClicked.connect(self._pick)
        menus.offer_copies(self.rows)
        self.compare = self._make_compare()
        tip = tr("List the runs of this program (Ctrl+Shift+H)")
        self.runs = push_button(tr("Runs"), self, self.runs_pressed, tip=tip)
        line = FlowLayout(self.compare, self.runs)
        self._area, column = low_column(self, self.edit)
        self._show_focus = single_shot(self, self._scroll_to_focus)
        column.addLayout(self._strips_column)
        column.addWidget(self.counts)
        column.addLayout(line)
        column.addWidget(self.rows, 1)
        column.addStretch(0)
        self.clear()

    def _make_compare(self) -> QPushButton:
        tip = tr("See both runs side by side (Ctrl+Alt+K)")
        return push_button(tr("Side by side"), self, self.compare_pressed, tip=tip)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the titles of the columns out where they would take the rows' place."""
        super().resizeEvent(event)
        self.rows.setHeaderHidden(self.height() < LOW)
        self._show_focus.start()

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        self._theme = theme
        set_sheet(self, sheet(theme))
        self.rows.setMinimumHeight(round(LEAST * theme.scale))
        for strip in self._strips:
            strip.set_theme(theme)
        for at in range(self.rows.topLevelItemCount()):
            self._color(self.rows.topLevelItem(at))

    def clear(self, words: str = FIRST) -> None:
        """Show no changes, but a sentence instead."""
        self._show_lines(((), ()))
        self.rows.clear()
        self.edit.say("")
        self.counts.say(words)
        for part in (self.edit, self.rows, self.compare):
            part.hide()

    def show_edit(self, edit: str, lines: tuple[Sequence[str], Sequence[str]], words: str) -> None:
        """Show what was edited, and a sentence; what differs is not known yet."""
        # A single line is named by the words above.
        self._show_lines(lines if max(map(len, lines)) > 1 else ((), ()))
        self.rows.clear()
        self.rows.hide()
        self.edit.say(edit)
        self.counts.say(words)
        for part in (self.edit, self.compare):
            part.show()

    def show_changes(self, changes: Sequence[RunChange], words: str) -> None:
        """List changes; ``words`` sums them up."""
        more = len(changes) - MAX_ROWS
        rest = tr(" · the first {max_rows} are listed", max_rows=MAX_ROWS) if more > 0 else ""
        self.counts.say(words + rest)
        self._changes = changes[:MAX_ROWS]
        self._fill()
        self.rows.setVisible(bool(changes))
        self._show_focus.start()

    def _scroll_to_focus(self) -> None:
        """Scroll to the rows once they have their height, if they have the keyboard."""
        if self.rows.hasFocus():
            self._area.ensureWidgetVisible(self.rows)

    def _fill(self) -> None:
        self.rows.clear()
        ordered = self._order.sorted(self._changes, _cells)
        self.rows.addTopLevelItems([self._row(change) for change in ordered])
        self._fit_columns()

    def _fit_columns(self) -> None:
        with self._widths.fitting() as fit:
            for column in (LINE, NAME):
                head = self.rows.header().sectionSizeHint(column)
                fit(column, min(WIDEST, max(head, self.rows.sizeHintForColumn(column))))

    def changes(self) -> list[RunChange]:
        """Return the listed changes."""
        items = (self.rows.topLevelItem(at) for at in range(self.rows.topLevelItemCount()))
        return [item.data(LINE, _CHANGE) for item in items if item is not None]

    def _show_lines(self, lines: tuple[Sequence[str], Sequence[str]]) -> None:
        for strip in self._strips:
            self._strips_column.removeWidget(strip)
            strip.hide()
            strip.deleteLater()
        self._strips = [
            DiffLines(rows, sign, self) for rows, sign in zip(lines, "−+", strict=True) if rows
        ]
        for strip in self._strips:
            strip.set_theme(self._theme)
            self._strips_column.addWidget(strip)

    def _row(self, change: RunChange) -> QTreeWidgetItem:
        item = QTreeWidgetItem([" ".join(cell.split("\n")) for cell in _cells(change)])
        item.setData(LINE, _CHANGE, change)
        place = tr("Line {line}: ", line=change.line) if change.line else ""
        text = place + change.text()
        for column in (LINE, NAME, WORDS):
            item.setToolTip(column, text[:400])
        item.setData(NAME, Qt.ItemDataRole.AccessibleTextRole, text[:400])
        font = item.font(NAME)
        font.setBold(change.is_cause)
        item.setFont(NAME, font)
        self._color(item)
        return item

    def _color(self, item: QTreeWidgetItem | None) -> None:
        """Colour a row by its kind, which its words name as well."""
        if item is None:
            return
        theme = self._theme
        kind = item.data(LINE, _CHANGE).kind
        color = {"gradient": theme.backward, "error": theme.error}.get(kind, theme.ink)
        for column in (NAME, WORDS):
            item.setForeground(column, QBrush(color))
        item.setForeground(LINE, QBrush(theme.ink3))

    def _pick(self, item: QTreeWidgetItem | None) -> None:
        if item is not None:
            # With the focus Qt makes the first row the current one, but selects none.
            item.setSelected(True)
            self.picked.emit(item.data(LINE, _CHANGE))


def low_column(pane: QWidget, *parts: QWidget) -> tuple[QScrollArea, QVBoxLayout]:
    """Return the column of a pane, and what scrolls it where the pane is too low for it."""
    inside, area = QWidget(), QScrollArea(pane)
    make_scrollable(area, inside)
    # Its rows and buttons take the keyboard, and are scrolled to.
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    vbox(pane, area)
    return area, vbox(inside, *parts, margins=(14, 10, 8, 8), spacing=6)


def _cells(change: RunChange) -> list[str]:
    name = formatting.variable(change.name) if change.kind == "value" else change.name
    kind = _KINDS[change.kind]
    return [str(change.line or ""), " ".join(filter(None, (kind, name))), change.words]
