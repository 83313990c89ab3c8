"""The runs of a document: what differed from the run before, and the result of each."""

from collections.abc import Sequence

from msgspec import Struct
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QBrush, QResizeEvent
from PySide6.QtWidgets import QTreeWidget, QTreeWidgetItem, QWidget

from gradscribe.playback.translation import tr
from gradscribe.widgets.base import menus
from gradscribe.widgets.base.boxes import push_button
from gradscribe.widgets.base.columns.order import ColumnOrder
from gradscribe.widgets.base.columns.widths import ColumnWidths
from gradscribe.widgets.base.flow_layout import FlowLayout
from gradscribe.widgets.base.focus.head_keys import HeadKeys
from gradscribe.widgets.base.labels import Label, sheet
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.tables.changes import LEAST, LOW, low_column

EMPTY = tr("Each run of this program is listed here: go back to it, keep it, name it, compare it.")
NAME, RESULT, SETTING, EDIT = range(4)
WIDEST = 104
"""Most pixels of a column before the last."""
_NUMBER = Qt.ItemDataRole.UserRole


class RunRow(Struct, frozen=True):
    """A run as the list shows it. ``setting``: seed and device; ``failed``: by an error."""

    number: int
    title: str
    edit: str
    result: str
    setting: str
    is_kept: bool
    failed: bool


class RunsPane(QWidget):
    """A row per run, the latest first, and what can be done with the chosen run."""

    back_pressed = Signal(int)
    kept = Signal(int, bool)
    named = Signal(int, str)
    compare_pressed = Signal(int)
    changes_pressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = Theme.load("light")
        self._filling = False
        self._runs: Sequence[RunRow] = ()
        self._make_rows()
        self.words = Label("caption", EMPTY, self)
        self.back = push_button(
            tr("Go back"),
            self,
            self._go_back,
            tip=tr("Run this text again with its seed and device"),
        )
        self.keep = push_button(
            tr("Keep"),
            self,
            self._keep,
            tip=tr("Keep this run however many follow, to compare with it"),
        )
        self.keep.setCheckable(True)
        self.name = push_button(tr("Name"), self, self.edit_name, tip=tr("Give this run a name"))
        tip = tr("See this run and the latest side by side")
        self.compare = push_button(tr("Compare"), self, self._compare, tip=tip)
        tip = tr("List what changed since the run before (Ctrl+Alt+H)")
        self.changes = push_button(tr("Changes"), self, self.changes_pressed, tip=tip)
        made = self.back, self.keep, self.name, self.compare
        menus.offer_copies(
            self.rows,
            (tr("Go back to it"), self._go_back),
            (tr("Keep it or not"), lambda: self.keep.click()),
            (tr("Name it"), self.edit_name),
            (tr("Compare it with the latest"), self._compare),
        )
        _, rows = low_column(self, self.words)
        rows.addLayout(FlowLayout(*made, self.changes))
        rows.addWidget(self.rows, 1)
        self.set_theme(self._theme)
        self.set_runs(())

    def _make_rows(self) -> None:
        self.rows = QTreeWidget(self)
        self.rows.setColumnCount(4)
        self.rows.setHeaderLabels([tr("Run"), tr("Result"), tr("Seed"), tr("Changed")])
        self.rows.setRootIsDecorated(False)
        self.rows.setUniformRowHeights(True)
        self.rows.setEditTriggers(QTreeWidget.EditTrigger.NoEditTriggers)
        self.rows.setAccessibleName(tr("Runs of this program, the latest first"))
        header = self.rows.header()
        self._widths = ColumnWidths(header, "runs")
        self._widths.reset.connect(self._fit_columns)
        self._order = ColumnOrder(header)
        self._order.changed.connect(lambda: self.set_runs(self._runs))
        header.setStretchLastSection(True)
        HeadKeys(self.rows)
        header.setMinimumSectionSize(24)
        self.rows.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.rows.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.rows.currentItemChanged.connect(self._show_buttons)
        self.rows.itemChanged.connect(self._name)
        self.rows.itemActivated.connect(lambda: self._go_back())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the titles of the columns out where they would take the rows' place."""
        super().resizeEvent(event)
        self.rows.setHeaderHidden(self.height() < LOW)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        self._theme = theme
        set_sheet(self, sheet(theme))
        self.rows.setMinimumHeight(round(LEAST * theme.scale))
        for at in range(self.rows.topLevelItemCount()):
            self._color(self.rows.topLevelItem(at))

    def set_runs(self, runs: Sequence[RunRow]) -> None:
        """List runs, the latest first; the chosen run stays chosen, else it is the latest."""
        chosen, was_latest = self.number(), self._is_latest_chosen()
        self._filling, self._runs = True, runs
        self.rows.clear()
        items = [self._item(run) for run in self._order.sorted(runs, _texts)]
        self.rows.addTopLevelItems(items)
        self._fit_columns()
        for item in items:
            if item.data(NAME, _NUMBER) == chosen and not was_latest:
                self.rows.setCurrentItem(item)
                break
        else:
            latest = [item for item in items if item.data(NAME, _NUMBER) == self._latest]
            if latest:
                self.rows.setCurrentItem(latest[0])
        self._filling = False
        self.rows.setVisible(bool(items))
        self.words.setVisible(not items)
        self._show_buttons()

    def number(self) -> int:
        """Return the number of the chosen run; 0 for none."""
        item = self.rows.currentItem()
        return item.data(NAME, _NUMBER) if item is not None else 0

    def edit_name(self) -> None:
        """Let the user type a name for the chosen run, in its row."""
        item = self.rows.currentItem()
        if item is not None:
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
            self.rows.editItem(item, NAME)

    def _item(self, run: RunRow) -> QTreeWidgetItem:
        item, setting = QTreeWidgetItem(_texts(run)), _texts(run)[SETTING]
        item.setData(NAME, _NUMBER, run.number)
        item.setData(RESULT, _NUMBER, run.failed)
        item.setData(SETTING, _NUMBER, run.is_kept)
        text = f"{run.title}: {run.edit}. {run.result}. {setting}"
        for column in range(4):
            item.setToolTip(column, text[:400])
        item.setData(NAME, Qt.ItemDataRole.AccessibleTextRole, text[:400])
        font = item.font(NAME)
        font.setBold(run.is_kept)
        item.setFont(NAME, font)
        self._color(item)
        return item

    def _color(self, item: QTreeWidgetItem | None) -> None:
        if item is not None:
            failed = item.data(RESULT, _NUMBER)
            theme = self._theme
            item.setForeground(RESULT, QBrush(theme.error if failed else theme.ink))
            for column in (EDIT, SETTING):
                item.setForeground(column, QBrush(theme.ink2))

    @property
    def _latest(self) -> int:
        """The number of the latest run; 0 for none."""
        return self._runs[0].number if self._runs else 0

    def _fit_columns(self) -> None:
        with self._widths.fitting() as fit:
            for column in (NAME, RESULT, SETTING):
                head = self.rows.header().sectionSizeHint(column)
                fit(column, min(WIDEST, max(head, self.rows.sizeHintForColumn(column))))

    def _is_latest_chosen(self) -> bool:
        return self.number() in (0, self._latest)

    def _show_buttons(self) -> None:
        item = self.rows.currentItem()
        for button in (self.back, self.keep, self.name, self.compare):
            button.setEnabled(item is not None)
        if item is not None:
            is_earlier = self.number() != self._latest
            self.back.setEnabled(is_earlier)
            self.compare.setEnabled(is_earlier)
            self.keep.setChecked(bool(item.data(SETTING, _NUMBER)))

    def _name(self, item: QTreeWidgetItem, column: int) -> None:
        if column == NAME and not self._filling:
            self.named.emit(item.data(NAME, _NUMBER), item.text(NAME))

    def _go_back(self) -> None:
        if self.back.isEnabled():
            self.back_pressed.emit(self.number())

    def _keep(self) -> None:
        self.kept.emit(self.number(), self.keep.isChecked())

    def _compare(self) -> None:
        self.compare_pressed.emit(self.number())


def _texts(run: RunRow) -> list[str]:
    mark = tr("kept") if run.is_kept else ""
    setting = " · ".join(filter(None, (run.setting, mark)))
    return [run.title, run.result, setting, run.edit]
