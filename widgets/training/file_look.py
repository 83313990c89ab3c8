"""A CSV file as it was read: its columns, the first rows, and which column is what."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QTableWidget, QTableWidgetItem, QVBoxLayout, QWidget

from engine.training import FileLooked
from playback import text
from widgets.labels import Label

TARGET, INPUT = "target", "input"
ROWS = 5


class FileLook(QWidget):
    """The first rows of a file; a click on a column's name makes it an input, the target, or not.

    Each click goes one on: input, target, left out.
    """

    chosen = Signal(object, str)
    """(names of the inputs, name of the target)"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.note = Label("caption")
        self.problem = Label("error")
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
        for part in (self.note, self.problem, self.table):
            column.addWidget(part)
        self._looked: FileLooked | None = None
        self._inputs: list[str] = []
        self._target = ""
        self.hide()

    def show_file(self, looked: FileLooked, inputs: Sequence[str], target: str) -> None:
        """Show what a file holds and which columns are used now."""
        self._looked = looked
        self._inputs, self._target = list(inputs), target
        problem = looked.problem
        self.problem.say("" if problem is None else f"{problem.message} {problem.hint}".strip())
        self.problem.setVisible(problem is not None)
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
        self.show()

    def _name(self) -> None:
        assert self._looked is not None
        for column, name in enumerate(self._looked.columns):
            use = TARGET if name == self._target else INPUT if name in self._inputs else ""
            item = QTableWidgetItem(f"{name}\n{use or '–'}")
            item.setToolTip(
                "numbers" if name in self._numbers() else "text: can be the target, as classes"
            )
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
        if self._inputs and self._target:
            order = [one for one in self._looked.columns if one in self._inputs]
            self.chosen.emit(order, self._target)
