"""Editor of one column of a table: its use, its kind, and what is done where a value is missing."""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from gradscribe.engine.protocol.training import ColumnSummary
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr, translated
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.choice import Choice
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.training.wheel_filter import ignore_wheel

INPUT, TARGET, MORE, NONE = "input", "target", "one more target", ""
USES = (NONE, INPUT, TARGET, MORE)
"""In this order an arrow key that leads to another use passes no target."""
_USE_TEXTS = {
    INPUT: tr("Input"),
    TARGET: tr("Target"),
    MORE: tr("One more target"),
    NONE: tr("Left out"),
}
KIND_TEXTS = {
    "number": tr("Numbers"),
    "category": tr("Categories"),
    "days": tr("Days since the first"),
    "date parts": tr("Year, month, day…"),
    "text": tr("Text"),
    "empty": tr("Nothing"),
}
"""The kinds of columns as they are called on the screen."""
MISSING_TEXTS = {
    "refuse": tr("Refuse"),
    "leave rows out": tr("Leave rows out"),
    "mean": tr("Mean"),
    "own category": tr("Own category"),
}
LONGEST_NAME = 40
SPACING = 8
"""Pixels between a label and its box."""


class ColumnEditor(QWidget):
    """Description of a column, with choices; the first entry of each takes a choice back."""

    picked = Signal(int)
    """Another column is to be edited, by its number."""
    use_picked = Signal(int, str)
    """(number of the column, one of `USES`)"""
    edited = Signal(str, str, str)
    """(name of the column, ``as`` or ``missing``, choice; empty: as found, or as for all)"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.column = self._box(tr("Column"), tr("The column that is described here"))
        self.use = self._box(tr("Use"), tr("What the column is for"))
        self.kind = self._box(tr("Read as"), tr("What becomes of its cells"))
        self.missing = self._box(
            tr("Missing values"), tr("What is done with rows that miss its value")
        )
        self.words, self.problem = Label("caption"), Label("error")
        self._details: Sequence[ColumnSummary] = ()
        self._rows = [
            (self._label(box), box) for box in (self.column, self.use, self.kind, self.missing)
        ]
        self._stacked: bool | None = None
        """True if the labels stand above their boxes; None before the first arrangement."""
        self._grid = QGridLayout()
        outer = vbox(self, self._grid, self.words, self.problem, spacing=4)
        outer.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._grid.setHorizontalSpacing(SPACING)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        self._arrange()
        self.column.activated.connect(self.picked)
        self.use.activated.connect(self._pick_use)
        self.kind.activated.connect(lambda at: self._edit("as", self.kind.itemData(at)))
        self.missing.activated.connect(lambda at: self._edit("missing", self.missing.itemData(at)))

    def _label(self, box: Choice) -> QLabel:
        label = QLabel(box.accessibleName(), self)
        label.setProperty("role", "caption")
        label.setBuddy(box)
        return label

    def _arrange(self) -> None:
        """Put the labels left of their boxes, or above them where a text would be elided."""
        left = max(label.sizeHint().width() for label, _ in self._rows) + SPACING
        needed = max(box.needed_width() for _, box in self._rows)
        stacked = left + needed > self.width()
        if stacked is self._stacked:
            return
        self._stacked = stacked
        for row, (label, box) in enumerate(self._rows):
            self._grid.removeWidget(label)
            self._grid.removeWidget(box)
            if stacked:
                self._grid.addWidget(label, 2 * row, 0, 1, 2)
                self._grid.addWidget(box, 2 * row + 1, 0, 1, 2)
            else:
                self._grid.addWidget(label, row, 0)
                self._grid.addWidget(box, row, 1)

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Arrange the labels anew; called by Qt."""
        super().resizeEvent(happened)
        self._arrange()

    def _box(self, name: str, tip: str) -> Choice:
        box = Choice(self)
        box.setAccessibleName(name)
        box.setAccessibleDescription(tip)
        box.setToolTip(tip)
        box.setMinimumWidth(60)
        box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        ignore_wheel(box)
        return box

    def show_columns(self, details: Sequence[ColumnSummary]) -> None:
        """Offer these columns; none hides the editor."""
        at = max(0, self.column.currentIndex())
        self._details = details
        with QSignalBlocker(self.column):
            self.column.clear()
            for detail in details:
                self.column.addItem(formatting.elide_middle(detail.name, LONGEST_NAME))
            self.column.setCurrentIndex(min(at, len(details) - 1))
        self.setVisible(bool(details))

    @property
    def current(self) -> int:
        """The number of the column that is shown."""
        return self.column.currentIndex()

    def show_column(self, number: int, use: str, uses: Sequence[str], choice: object) -> None:
        """Show a column, its use of those possible, and the setup's choices for it."""
        if not 0 <= number < len(self._details):
            return
        detail = self._details[number]
        given = choice if isinstance(choice, dict) else {"as": choice}
        self.column.setCurrentIndex(number)
        _offer(self.use, [(_USE_TEXTS[each], each) for each in uses], use)
        found = KIND_TEXTS.get(detail.kind, detail.kind).lower()
        auto = tr("As found") if given.get("as") else tr("As found: {found}", found=found)
        kinds = [(KIND_TEXTS[kind], kind) for kind in detail.choices]
        _offer(self.kind, [(auto, ""), *kinds], given.get("as") or "")
        common = MISSING_TEXTS.get(detail.missing, detail.missing).lower()
        auto = (
            tr("As for all") if given.get("missing") else tr("As for all: {common}", common=common)
        )
        ways = [(text, way) for way, text in MISSING_TEXTS.items()]
        _offer(self.missing, [(auto, ""), *ways], given.get("missing") or "")
        self.missing.setEnabled(bool(detail.blanks) or bool(given.get("missing")))
        words = translated(detail.words)
        self.words.say(words[:1].upper() + words[1:])
        self.words.setVisible(bool(detail.words))
        self.problem.say(translated(detail.problem))
        self.problem.setVisible(bool(detail.problem))
        self._arrange()

    def _pick_use(self, at: int) -> None:
        self.use_picked.emit(self.current, self.use.itemData(at))

    def _edit(self, key: str, choice: str) -> None:
        self.edited.emit(self._details[self.current].name, key, choice)


def _offer(box: Choice, items: Sequence[tuple[str, str]], chosen: object) -> None:
    """Fill a box with (text, data) and choose one."""
    with QSignalBlocker(box):
        box.clear()
        for text, data in items:
            box.addItem(text, data)
        box.setCurrentIndex(max(0, box.findData(chosen)))
