"""A CSV file as it was read: its columns, the first rows, and which column is what."""

from collections.abc import Sequence
from pathlib import PurePath

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from engine.training import FileLooked
from playback import text
from widgets.labels import Label, sheet, tip
from widgets.theme import Theme

TARGET, INPUT = "target", "input"
ROWS = 5
LONGEST_NAME = 16
"""Letters of a column's name that its head has."""
WIDEST = 130
"""Pixels of a column."""


class FileLook(QWidget):
    """The first rows of a file; a click on a column's name makes it an input, the target, or not.

    Each click goes one on: input, target, left out.
    """

    chosen = Signal(object, str)
    """(names of the inputs, name of the target)"""
    stopped = Signal()
    """A long file is to be read no further."""
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
        row = QHBoxLayout(self._strip)
        row.setContentsMargins(0, 0, 0, 0)
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
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 6)
        column.setSpacing(4)
        parts = (self.note, self._strip, self.problem, self._change, self.table, self.sampled)
        for part in parts:
            column.addWidget(part)
        self.sampled.hide()
        self._looked: FileLooked | None = None
        self._inputs: list[str] = []
        self._target = ""
        self.hide()

    def _make_change(self) -> None:
        """Make the row that tells of a file that is not what it was."""
        self.change_words = Label("warning")
        self.again_button = QPushButton("Read again")
        self.again_button.setProperty("crumb", True)
        self.again_button.setToolTip("Begin anew with what the file holds now")
        self.again_button.clicked.connect(self.again)
        self._change = QWidget()
        row = QHBoxLayout(self._change)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.change_words, 1)
        row.addWidget(self.again_button)
        self._change.hide()

    def show_change(self, words: str, can_read: bool = True) -> None:
        """Tell that the file is not what was read; an empty text takes that away."""
        self.change_words.say(words)
        self.again_button.setVisible(can_read)
        self._change.setVisible(bool(words))

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        self.setStyleSheet(sheet(theme))

    def show_progress(self, path: str, share: float) -> None:
        """Show how much of a long file is read; 1 takes that away."""
        reads = share < 1
        self._strip.setVisible(reads)
        if not reads:
            return
        # What was seen of another file is not of this one.
        for part in (self.problem, self.table, self.sampled):
            part.hide()
        name = PurePath(path).name
        self.note.say(f"Reading {name}…")
        self.note.show()
        self.progress.setValue(round(100 * share))
        self.progress.setAccessibleName(f"Reading {name}")
        self.show()

    def show_note(self, note: str) -> None:
        """Show a word on the rows that were taken."""
        self.sampled.say(note)
        self.sampled.setVisible(bool(note))

    def show_file(self, looked: FileLooked, inputs: Sequence[str], target: str) -> None:
        """Show what a file holds and which columns are used now."""
        self._looked = looked
        self._inputs, self._target = list(inputs), target
        problem = looked.problem
        self.problem.say("" if problem is None else f"{problem.message} {problem.hint}".strip())
        self.problem.setVisible(problem is not None)
        if problem is not None:
            self.sampled.hide()
        self.table.setVisible(bool(looked.columns))
        rows = text.count(looked.count, "row")
        self.note.say(f"{rows} · click a column: input, target, left out")
        self.note.setVisible(bool(looked.columns))
        self.table.setColumnCount(len(looked.columns))
        self.table.setRowCount(min(ROWS, len(looked.rows)))
        for row, cells in enumerate(looked.rows[:ROWS]):
            for column, cell in enumerate(cells[: len(looked.columns)]):
                self.table.setItem(row, column, QTableWidgetItem(cell))
        self._name()
        self.table.resizeColumnsToContents()
        # With room for any use, so that nothing moves under the mouse where one chooses it.
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
            # The use below a name must be seen however long that is.
            item = QTableWidgetItem(f"{text.shortened(name, LONGEST_NAME)}\n{use or '–'}")
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
            self._inputs = [one for one in self._inputs if one != name]
            if self._target in self._numbers():
                self._inputs.append(self._target)
            self._target = name
        else:
            self._inputs.append(name)
        self._name()
        order = [one for one in self._looked.columns if one in self._inputs]
        self.chosen.emit(order, self._target)
