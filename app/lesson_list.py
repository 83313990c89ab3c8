"""The list of lessons: part by part, with what is done and where one stands."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.lessons import ours
from app.overlay import Overlay
from app.panels import scrolled
from app.progress import Progress, Reached
from playback import text
from playback.lessons.lesson import Listed
from widgets.held_paint import let_paint
from widgets.slices import LAST, Slices

TURN_MS = 12
"""Rows are made for so long at a time; then the interface has its turn."""


class Row(QPushButton):
    """A lesson: its number, its title, what it is about, and how far one is."""

    stepped = Signal(int)

    def __init__(self, number: int, lesson: Listed, reached: Reached) -> None:
        super().__init__()
        self.lesson = lesson
        state = _state(lesson, reached)
        self.setAccessibleName(f"{number}. {lesson.title}{', ' + state if state else ''}")
        self.setAccessibleDescription(lesson.about)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 14, 6)
        row.setSpacing(12)
        at = _label(str(number), "caption")
        at.setFixedWidth(22)
        at.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        words = QVBoxLayout()
        words.setSpacing(1)
        words.addWidget(_label(lesson.title, "title"))
        words.addWidget(_label(lesson.about, "caption"))
        row.addWidget(at)
        row.addLayout(words, 1)
        row.addWidget(_label(state, "caption"))

    def showEvent(self, happened: QShowEvent) -> None:
        """Be as high as its two lines; a style sheet wins over the size of a button's layout."""
        super().showEvent(happened)
        layout = self.layout()
        if layout is not None:
            self.setFixedHeight(layout.sizeHint().height())

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """Open it with Return, walk with the arrows."""
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(happened.key()))
        if step:
            self.stepped.emit(step)
        elif happened.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(happened)


class LessonList(Overlay):
    """Choose a lesson; its file is read once it is chosen."""

    chosen = Signal(object)

    def __init__(self, over: QWidget, lessons: Sequence[Listed], progress: Progress) -> None:
        super().__init__(over, 720, 640)
        done = sum(progress.of(one.name).done for one in lessons)
        heading, caption = QLabel("Lessons"), QLabel(_summary(done, len(lessons)))
        heading.setProperty("role", "heading")
        caption.setProperty("role", "caption")
        self.column.addWidget(heading)
        self.column.addWidget(caption)
        page = QWidget()
        self._rows = QVBoxLayout(page)
        self._rows.setContentsMargins(0, 0, 8, 0)
        self._rows.setSpacing(6)
        self.rows: list[Row] = []
        self.area = scrolled(page)
        self.column.addWidget(self.area, 1)
        self.card.setAccessibleName("Lessons")
        # Each row would have what is seen around it painted again, the window below the card too.
        self.area.setUpdatesEnabled(False)
        self._filling = Slices(TURN_MS, self)
        self._filling.begin(self._fill(lessons, progress))

    def _fill(self, lessons: Sequence[Listed], progress: Progress) -> Iterator[bool | None]:
        # What opened the card has had its turn: the rows begin in the next one.
        yield LAST
        part = ""
        for number, lesson in enumerate(lessons, 1):
            if lesson.part != part:
                part = lesson.part
                self._rows.addSpacing(6 if self.rows else 0)
                self._rows.addWidget(_label(part, "heading"))
            self.rows.append(self._row(number, lesson, progress.of(lesson.name)))
            self._rows.addWidget(self.rows[-1])
            yield None
        self._rows.addStretch(1)
        yield LAST
        let_paint(self.area)

    def _row(self, number: int, lesson: Listed, reached: Reached) -> Row:
        row = Row(number, lesson, reached)
        row.clicked.connect(lambda: self._choose(lesson))
        row.stepped.connect(self._walk)
        return row

    def open_at(self, name: str) -> None:
        """Show it with that lesson ready to be opened; else the first that is not done."""
        self.open()
        self._filling.ended.connect(lambda: self._go_to(name))
        self._filling.go_on()

    def leave(self) -> None:
        """Close it, whole or not."""
        self._filling.stop()
        super().leave()

    def _go_to(self, name: str) -> None:
        row = next((one for one in self.rows if one.lesson.name == name), None)
        if row is not None:
            row.setFocus()
            # Rows get their heights as they are shown; where one stands is known after that.
            QTimer.singleShot(0, self, lambda: self.area.ensureWidgetVisible(row, 0, 120))

    def _choose(self, lesson: Listed) -> None:
        if not self.is_leaving:
            self._filling.stop()
            self.leave_after(lambda: self.chosen.emit(ours(lesson.file)))

    def _walk(self, step: int) -> None:
        at = next((i for i, row in enumerate(self.rows) if row.hasFocus()), 0) + step
        if 0 <= at < len(self.rows):
            self.rows[at].setFocus()
            self.area.ensureWidgetVisible(self.rows[at], 0, 60)


def upcoming(lessons: Sequence[Listed], progress: Progress, after: str = "") -> str:
    """Return the name of the lesson to go on with: the next one that is not done."""
    names = [one.name for one in lessons]
    start = names.index(after) + 1 if after in names else 0
    order = [*names[start:], *names[:start]]
    return next((name for name in order if not progress.of(name).done), "")


def _summary(done: int, total: int) -> str:
    if not done:
        return "Short, one after the other: predict, then see it happen on the tape"
    return f"{done} of {text.count(total, 'lesson')} done"


def _state(lesson: Listed, reached: Reached) -> str:
    if reached.step:
        return f"step {reached.step + 1} of {lesson.steps}"
    return "✓ done" if reached.done else ""


def _label(words: str, role: str) -> QLabel:
    label = QLabel(words)
    label.setProperty("role", role)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    if role == "caption":
        label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
    return label
