"""Preview of a CSV file: its columns with their roles, and the first rows."""

from collections.abc import Sequence
from pathlib import PurePath

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QProgressBar, QPushButton, QTableWidget, QTableWidgetItem, QWidget

from gradscribe.engine.protocol.training import FileSummary
from gradscribe.playback.text import formatting
from gradscribe.widgets.base.boxes import hbox, vbox
from gradscribe.widgets.base.labels import Label, sheet, tip
from gradscribe.widgets.base.theme import Theme

TARGET, INPUT = "target", "input"
ROWS = 5
LONGEST_NAME = 16
"""Most characters of a column's name in its header."""
WIDEST = 130
"""Most pixels of a column."""


class FilePreview(QWidget):
    """The first rows of a file; each click on a header cycles its role: input, target, left out."""

    chosen = Signal(object, str)
    """(names of the inputs, name of the target)"""
    stopped = Signal()
    """Reading of a long file is to stop."""
    again = Signal()
    """The file is to be read again."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.note, self.sampled = Label("caption"), Label("caption")
        self.problem = Label("error")
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setFixedHeight(6)
        self.stop = QPushButton("Stop")
        self.stop.setProperty("crumb", True)
        self.stop.setToolTip("Read the file no further")
        self.stop.clicked.connect(self.stopped)
        self._strip = QWidget()
        row = hbox(self._strip)
        row.addWidget(self.progress, 1)
        row.addWidget(self.stop)
        self._strip.hide()
        self._make_change()
        self.table = QTableWidget()
        self.table.setAccessibleName("First rows of the file")
        self.table.verticalHeader().hide()
        self.table.setMaximumHeight(168)
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.horizontalHeader().setSectionsClickable(True)
        self.table.horizontalHeader().sectionClicked.connect(self._turn)
        column = vbox(self, margins=(0, 0, 0, 6), spacing=4)
        parts = (self.note, self._strip, self.problem, self._change, self.table, self.sampled)
        for part in parts:
            column.addWidget(part)
        self.sampled.hide()
        self._looked: FileSummary | None = None
        self._inputs: list[str] = []
        self._target = ""
        self.hide()

    def _make_change(self) -> None:
        """Build the row that reports a changed file."""
        self.change_words = Label("warning")
        self.again_button = QPushButton("Read again")
        self.again_button.setProperty("crumb", True)
        self.again_button.setToolTip("Begin anew with what the file holds now")
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
        self.setStyleSheet(sheet(theme))

    def show_progress(self, path: str, share: float) -> None:
        """Show the progress of reading a long file; 1 removes it."""
        reads = share < 1
        self._strip.setVisible(reads)
        if not reads:
            return
        # These still show another file.
        for part in (self.problem, self.table, self.sampled):
            part.hide()
        name = PurePath(path).name
        self.note.say(f"Reading {name}…")
        self.note.show()
        self.progress.setValue(round(100 * share))
        self.progress.setAccessibleName(f"Reading {name}")
        self.show()

    def show_note(self, note: str) -> None:
        """Show a remark on the rows that were used."""
        self.sampled.say(note)
        self.sampled.setVisible(bool(note))

    def show_file(self, looked: FileSummary, inputs: Sequence[str], target: str) -> None:
        """Show the contents of a file and the roles of its columns."""
        self._looked = looked
        self._inputs, self._target = list(inputs), target
        problem = looked.problem
        self.problem.say("" if problem is None else f"{problem.message} {problem.hint}".strip())
        self.problem.setVisible(problem is not None)
        if problem is not None:
            self.sampled.hide()
        self.table.setVisible(bool(looked.columns))
        rows = formatting.count(looked.count, "row")
        self.note.say(f"{rows} · click a column: input, target, left out")
        self.note.setVisible(bool(looked.columns))
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
        for column, name in enumerate(self._looked.columns):
            use = TARGET if name == self._target else INPUT if name in self._inputs else ""
            # The role below a name must be visible however long the name is.
            item = QTableWidgetItem(f"{formatting.elide_middle(name, LONGEST_NAME)}\n{use or '–'}")
            kind = "numbers" if name in self._numbers() else "text: can be the target, as classes"
            item.setToolTip(tip(f"{name}\n{kind}"))
            self.table.setHorizontalHeaderItem(column, item)

    def _numbers(self) -> set[str]:
        assert self._looked is not None
        pairs = zip(self._looked.columns, self._looked.numeric, strict=False)
        return {name for name, numeric in pairs if numeric}

    def _turn(self, column: int) -> None:
        assert self._looked is not None
        name = self._looked.columns[column]
        numeric = name in self._numbers()
        if name == self._target:
            self._target = ""
        elif name in self._inputs or not numeric:
            self._inputs = [other for other in self._inputs if other != name]
            if self._target in self._numbers():
                self._inputs.append(self._target)
            self._target = name
        else:
            self._inputs.append(name)
        self._name()
        order = [column for column in self._looked.columns if column in self._inputs]
        self.chosen.emit(order, self._target)
