"""Preview of a table's file: what was understood of its columns, and the first rows."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QProgressBar, QPushButton, QTableWidget, QTableWidgetItem, QWidget

from gradscribe.engine.protocol.training import FileSummary
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, tr, translated
from gradscribe.widgets.base.boxes import hbox, vbox
from gradscribe.widgets.base.focus.head_keys import HeadKeys
from gradscribe.widgets.base.labels import Label, sheet, tip
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.training.setup.column_editor import (
    INPUT,
    MORE,
    NONE,
    TARGET,
    USES,
    ColumnEditor,
)

ROWS = 5
LONGEST_NAME = 16
"""Most characters of a column's name in its header."""
WIDEST = 130
"""Most pixels of a column."""


class FilePreview(QWidget):
    """The first rows of a file; each click on a header cycles its role: input, target, left out.

    Below them the column of the current cell is described and can be edited. Space on a cell does
    what a click on its header does.
    """

    chosen = Signal(object, object)
    """(names of the inputs, name of the target, or a list of several)"""
    edited = Signal(str, str, str)
    """As `ColumnEditor.edited`."""
    stopped = Signal()
    """Reading of a long file is to stop."""
    again = Signal()
    """The file is to be read again."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.note, self.facts, self.sampled = (Label("caption") for _ in range(3))
        self.problem = Label("error")
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setFixedHeight(6)
        self.stop = QPushButton(tr("Stop"))
        self.stop.setProperty("crumb", True)
        self.stop.setToolTip(tr("Read the file no further"))
        self.stop.clicked.connect(self.stopped)
        self._strip = QWidget()
        row = hbox(self._strip)
        row.addWidget(self.progress, 1)
        row.addWidget(self.stop)
        self._strip.hide()
        self._make_change()
        self.table = QTableWidget()
        self.table.setAccessibleName(tr("First rows of the file"))
        self.table.verticalHeader().hide()
        self.table.setMaximumHeight(190)
        self.table.setTabKeyNavigation(False)
        self.table.installEventFilter(self)
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.horizontalHeader().setSectionsClickable(True)
        self.table.horizontalHeader().sectionClicked.connect(self._turn)
        HeadKeys(self.table)
        self.table.currentCellChanged.connect(lambda _row, column, *_: self._edit(column))
        self.editor = ColumnEditor()
        self.editor.picked.connect(self._edit)
        self.editor.use_picked.connect(self._use)
        self.editor.edited.connect(self.edited)
        column = vbox(self, margins=(0, 0, 0, 6), spacing=4)
        parts = (
            self.note, self._strip, self.problem, self._change, self.facts, self.table,
            self.editor, self.sampled,
        )  # fmt: skip
        for part in parts:
            column.addWidget(part)
        for part in (self.sampled, self.facts, self.editor):
            part.hide()
        self._looked: FileSummary | None = None
        self._inputs: list[str] = []
        self._targets: list[str] = []
        self._choices: Mapping[str, object] = {}
        self.hide()

    def _make_change(self) -> None:
        """Build the row that reports a changed file."""
        self.change_words = Label("warning")
        self.again_button = QPushButton(tr("Read again"))
        self.again_button.setProperty("crumb", True)
        self.again_button.setToolTip(tr("Begin anew with what the file holds now"))
        self.again_button.clicked.connect(self.again)
        self._change = QWidget()
        row = hbox(self._change)
        row.addWidget(self.change_words, 1)
        row.addWidget(self.again_button)
        self._change.hide()

    def show_change(self, words: str, can_read: bool = True) -> None:
        """Report that the file differs from what was read; an empty text removes that."""
        self.change_words.say(words)
        self.again_button.setVisible(can_read)
        self._change.setVisible(bool(words))

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        set_sheet(self, sheet(theme))

    def show_progress(self, path: str, share: float) -> None:
        """Show the progress of reading a long file; 1 removes it."""
        reads = share < 1
        self._strip.setVisible(reads)
        if not reads:
            return
        # These still show another file.
        for part in (self.problem, self.table, self.sampled, self.facts, self.editor):
            part.hide()
        name = PurePath(path).name
        self.note.say(tr("Reading {name}…", name=name))
        self.note.show()
        self.progress.setValue(round(100 * share))
        self.progress.setAccessibleName(tr("Reading {name}", name=name))
        self.show()

    def show_note(self, note: str) -> None:
        """Show a remark on the rows that were used."""
        self.sampled.say(note)
        self.sampled.setVisible(bool(note))

    def show_file(
        self,
        looked: FileSummary,
        inputs: Sequence[str],
        target: str | Sequence[str],
        choices: Mapping[str, object] | None = None,
    ) -> None:
        """Show the contents of a file, the roles of its columns, and the setup's choices."""
        self._looked, self._choices = looked, choices or {}
        self._inputs = list(inputs)
        self._targets = [target] * bool(target) if isinstance(target, str) else list(target)
        problem = looked.problem
        self.problem.say(
            ""
            if problem is None
            else f"{translated(problem.message)} {translated(problem.hint)}".strip()
        )
        self.problem.setVisible(problem is not None)
        if problem is not None:
            self.sampled.hide()
        self.table.setVisible(bool(looked.columns))
        self.facts.say(translated(looked.facts))
        self.facts.setVisible(bool(looked.facts))
        rows = ngettext("{count:,} row", "{count:,} rows", looked.count)
        self.note.say(tr("{rows} · click a column: input, target, left out", rows=rows))
        self.note.setVisible(bool(looked.columns))
        self.editor.show_columns(looked.details)
        self.table.setColumnCount(len(looked.columns))
        self.table.setRowCount(min(ROWS, len(looked.rows)))
        for row, cells in enumerate(looked.rows[:ROWS]):
            for column, cell in enumerate(cells[: len(looked.columns)]):
                self.table.setItem(row, column, QTableWidgetItem(cell))
        self._name()
        self.table.resizeColumnsToContents()
        # Wide enough for any role, so that nothing moves under the mouse on a click.
        letters, margins = self.table.horizontalHeader().fontMetrics(), 16
        least = letters.horizontalAdvance(TARGET) + margins
        for column in range(self.table.columnCount()):
            width = max(least, min(WIDEST, self.table.columnWidth(column)))
            self.table.setColumnWidth(column, width)
        self.show()

    def _name(self) -> None:
        assert self._looked is not None
        details = self._looked.details
        for column, name in enumerate(self._looked.columns):
            # The role below a name must be visible however long the name is.
            lines = [formatting.elide_middle(name, LONGEST_NAME), self._use_of(name) or "–"]
            kind = (
                "numbers" if name in self._numbers() else tr("text: can be the target, as classes")
            )
            if column < len(details):
                kind = translated(details[column].words)
                lines.insert(1, details[column].kind)
            item = QTableWidgetItem("\n".join(lines))
            item.setToolTip(tip(f"{name}\n{kind}"))
            self.table.setHorizontalHeaderItem(column, item)
        self._edit(self.editor.current)

    def _use_of(self, name: str) -> str:
        return TARGET if name in self._targets else INPUT if name in self._inputs else NONE

    def _edit(self, column: int) -> None:
        """Describe a column below the table."""
        if self._looked is None or not 0 <= column < len(self._looked.details):
            return
        name = self._looked.columns[column]
        others = [target for target in self._targets if target != name]
        uses = [NONE, INPUT, TARGET] if self._is_input(column) else [NONE, TARGET]
        if others and {name, *others} <= self._numbers():
            uses = [use for use in USES if use in (*uses, MORE)]
        use = self._use_of(name)
        use = MORE if use == TARGET and others else use
        self.editor.show_column(column, use, uses, self._choices.get(name, {}))

    def _is_input(self, column: int) -> bool:
        """Return whether a column can be an input."""
        assert self._looked is not None
        if column < len(self._looked.details):
            return self._looked.details[column].kind not in ("text", "empty")
        return self._looked.columns[column] in self._numbers()

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Let space change the use of the current cell's column; called by Qt."""
        if (
            watched is self.table
            and isinstance(happened, QKeyEvent)
            and happened.type() == QEvent.Type.KeyPress
            and happened.key() == Qt.Key.Key_Space
            and self.table.currentColumn() >= 0
        ):
            self._turn(self.table.currentColumn())
            return True
        return super().eventFilter(watched, happened)

    def _numbers(self) -> set[str]:
        assert self._looked is not None
        pairs = zip(self._looked.columns, self._looked.numeric, strict=False)
        return {name for name, numeric in pairs if numeric}

    def _turn(self, column: int) -> None:
        """Give a column its next use: input, target, left out."""
        assert self._looked is not None
        name = self._looked.columns[column]
        if name in self._targets:
            use = NONE
        elif name in self._inputs or not self._is_input(column):
            use = TARGET
        else:
            use = INPUT
        self._use(column, use)

    def _use(self, column: int, use: str) -> None:
        """Give a column a use; a target that another replaces becomes an input if it can."""
        assert self._looked is not None
        names = self._looked.columns
        name = names[column]
        before = [target for target in self._targets if target != name]
        inputs = {other for other in self._inputs if other != name}
        if use == TARGET:
            inputs |= {other for other in before if self._is_input(names.index(other))}
            self._targets = [name]
        else:
            self._targets = [*before, name] if use == MORE else before
        if use == INPUT:
            inputs.add(name)
        self._inputs = [other for other in names if other in inputs]
        self._name()
        several = [other for other in names if other in self._targets]
        self.chosen.emit(self._inputs, several if len(several) > 1 else "".join(several))
