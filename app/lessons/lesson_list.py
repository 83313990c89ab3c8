"""The list of lessons, grouped by part, with the learner's progress."""

from collections.abc import Sequence

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QStyleOptionViewItem, QWidget

from gradscribe.app.lessons.catalogue import builtin
from gradscribe.app.lessons.progress import LessonProgress, LessonState
from gradscribe.app.ui.popup import PopupCard
from gradscribe.app.ui.text_delegate import RIGHT, AnyModelIndex, TextDelegate
from gradscribe.playback.lessons.lesson import LessonSummary
from gradscribe.playback.text import formatting
from gradscribe.widgets.base.labels import plain_label

LESSON = Qt.ItemDataRole.UserRole
NUMBER, STATE = LESSON + 1, LESSON + 2
"""Item roles: the lesson's number, and the progress as text."""
SCROLL = 8
"""Pixels between the cards and the scroll bar, as the style sheet has them."""


class LessonList(PopupCard):
    """A card to choose a lesson from; its file is read when chosen."""

    chosen = Signal(object)

    def __init__(
        self, over: QWidget, lessons: Sequence[LessonSummary], progress: LessonProgress
    ) -> None:
        super().__init__(over, 720, 640)
        done = sum(progress.of(lesson.name).done for lesson in lessons)
        self.column.addWidget(plain_label("Lessons", "heading"))
        self.column.addWidget(plain_label(_summary(done, len(lessons)), "caption"))
        self.rows = _Rows(self.card)
        self.column.addWidget(self.rows, 1)
        self.card.setAccessibleName("Lessons")
        part = ""
        for number, lesson in enumerate(lessons, 1):
            if lesson.part != part:
                part = lesson.part
                self.rows.add_part(part)
            self.rows.add_lesson(number, lesson, _state(lesson, progress.of(lesson.name)))
        self.rows.itemClicked.connect(self._choose)
        self.rows.entered_by_key.connect(self._choose)

    def open_at(self, name: str) -> None:
        """Open the card with that lesson selected."""
        self.open()
        self.rows.setFocus()
        found = next((row for row in self.rows.lessons() if _lesson(row).name == name), None)
        if found is not None:
            self.rows.setCurrentItem(found)
            self.rows.scrollToItem(found, QListWidget.ScrollHint.PositionAtCenter)

    def _choose(self, item: QListWidgetItem) -> None:
        if item.data(LESSON) is not None and not self.is_leaving:
            file = _lesson(item).file
            self.leave_after(lambda: self.chosen.emit(builtin(file)))


class _Rows(QListWidget):
    """A row for each lesson, under the name of its part."""

    entered_by_key = Signal(QListWidgetItem)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("bare", True)
        self.setProperty("cards", True)
        self.setAccessibleName("Lessons")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.setItemDelegate(_Painted(self, "heading", "title", "caption"))

    def add_part(self, name: str) -> None:
        """Append the title of a part; it cannot be selected."""
        item = QListWidgetItem(self)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, name)
        item.setFlags(Qt.ItemFlag.NoItemFlags)

    def add_lesson(self, number: int, lesson: LessonSummary, state: str) -> None:
        """Append a lesson with its progress."""
        item = QListWidgetItem(self)
        item.setData(LESSON, lesson)
        item.setData(NUMBER, number)
        item.setData(STATE, state)
        named = f"{number}. {lesson.title}{', ' + state if state else ''}"
        item.setData(Qt.ItemDataRole.AccessibleTextRole, named)
        item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, lesson.about)

    def lessons(self) -> list[QListWidgetItem]:
        """Return the rows that can be chosen."""
        every = (self.item(at) for at in range(self.count()))
        return [row for row in every if row.data(LESSON) is not None]

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """Choose with Return or Space, move with the arrows; leave Esc to the card."""
        item = self.currentItem()
        enters = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
        if happened.key() in enters and item is not None:
            if not happened.isAutoRepeat():
                self.entered_by_key.emit(item)
        elif happened.key() == Qt.Key.Key_Escape:
            happened.ignore()
        else:
            super().keyPressEvent(happened)


class _Painted(TextDelegate):
    """Delegate that paints number, title, description and progress of a lesson."""

    SIDE, FIRST, BETWEEN, ABOVE, GAP = 14, 34, 12, 6, 6
    """Pixels: at the side, for the number, between columns, above words, between rows."""

    def sizeHint(self, _option: QStyleOptionViewItem, index: AnyModelIndex) -> QSize:
        """Return the height of a row."""
        if index.data(LESSON) is None:
            return QSize(0, self.height_of("heading") + 2 * self.GAP + (index.row() and self.GAP))
        lines = self.height_of("title") + self.height_of("caption")
        return QSize(0, lines + 2 * self.ABOVE + self.GAP + 3)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyModelIndex) -> None:
        """Paint the item in the style of the list, then its text."""
        lesson = index.data(LESSON)
        if lesson is not None:
            super().paint(painter, option, index)
        painter.save()
        try:
            if isinstance(lesson, LessonSummary):
                self._write(painter, lesson, index, option.rect)
            else:
                part = str(index.data(Qt.ItemDataRole.AccessibleTextRole))
                self.write(painter, "heading", part, option.rect.adjusted(0, 0, 0, -self.GAP))
        finally:
            painter.restore()

    def _write(
        self, painter: QPainter, lesson: LessonSummary, index: AnyModelIndex, card: QRect
    ) -> None:
        room = card.adjusted(0, self.ABOVE + 1, -self.SIDE - SCROLL, -self.ABOVE - self.GAP - 1)
        at = QRect(room.topLeft(), QSize(self.FIRST, room.height()))
        self.write(painter, "caption", str(index.data(NUMBER)), at, RIGHT)
        state = str(index.data(STATE))
        right = QRect(room)
        right.setLeft(room.right() + 1 - self.width_of("caption", state))
        self.write(painter, "caption", state, right)
        room.setLeft(at.right() + 1 + self.BETWEEN)
        room.setRight(right.left() - self.BETWEEN)
        title, about = QRect(room), QRect(room)
        title.setHeight(self.height_of("title"))
        about.setTop(about.bottom() + 1 - self.height_of("caption"))
        self.write(painter, "title", lesson.title, title)
        self.write(painter, "caption", lesson.about, about)


def _lesson(item: QListWidgetItem) -> LessonSummary:
    found = item.data(LESSON)
    assert isinstance(found, LessonSummary)
    return found


def next_lesson(lessons: Sequence[LessonSummary], progress: LessonProgress, after: str = "") -> str:
    """Return the name of the next lesson that is not done."""
    names = [lesson.name for lesson in lessons]
    start = names.index(after) + 1 if after in names else 0
    order = [*names[start:], *names[:start]]
    return next((name for name in order if not progress.of(name).done), "")


def _summary(done: int, total: int) -> str:
    if not done:
        return "Short, one after the other: predict, then see it happen on the tape"
    return f"{done} of {formatting.count(total, 'lesson')} done"


def _state(lesson: LessonSummary, reached: LessonState) -> str:
    if reached.step:
        return f"step {reached.step + 1} of {lesson.steps}"
    return "✓ done" if reached.done else ""
