"""The list of lessons, grouped by part, with the learner's progress."""

import math
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QStyleOptionViewItem, QWidget

from gradscribe.app.lessons.catalogue import builtin
from gradscribe.app.lessons.progress import LessonProgress, LessonState
from gradscribe.app.ui.popup import PopupCard
from gradscribe.app.ui.text_delegate import RIGHT, AnyModelIndex, TextDelegate
from gradscribe.playback.lessons.duration import minutes_text
from gradscribe.playback.lessons.lesson import LessonSummary
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base.labels import plain_label
from gradscribe.widgets.base.return_edit import ReturnEdit

LESSON = Qt.ItemDataRole.UserRole
NUMBER, STATE, SHARE = LESSON + 1, LESSON + 2, LESSON + 3
"""Item roles: the lesson's number, the progress as text and as a share from 0 to 1."""
MISSING = 9
"""Rank of a lesson that lacks a word of the search."""
SCROLL = 8
"""Pixels between the cards and the scroll bar, as the style sheet has them."""


class LessonList(PopupCard):
    """A card to choose a lesson from; its file is read when chosen."""

    chosen = Signal(object)

    def __init__(
        self, over: QWidget, lessons: Sequence[LessonSummary], progress: LessonProgress
    ) -> None:
        super().__init__(over, 720, 640)
        self.column.addWidget(plain_label(tr("Lessons"), "heading"))
        about = plain_label(_summary(lessons, progress), "caption")
        about.setWordWrap(True)
        self.column.addWidget(about)
        self.search = ReturnEdit()
        self.search.setPlaceholderText(tr("Search: backward, shape, zero_grad, ..."))
        self.search.setAccessibleName(tr("Search lessons"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._arrange)
        self.search.returnPressed.connect(self._open_best)
        self.column.addWidget(self.search)
        self.nothing = plain_label(tr("No lesson has all of these words"), "caption")
        self.nothing.hide()
        self.column.addWidget(self.nothing)
        self.rows = _Rows(self.card)
        self.column.addWidget(self.rows, 1)
        self.card.setAccessibleName(tr("Lessons"))
        part = ""
        for number, lesson in enumerate(lessons, 1):
            if lesson.part != part:
                part = lesson.part
                self.rows.add_part(part)
            self.rows.add_lesson(number, lesson, progress.of(lesson.name))
        self.rows.itemClicked.connect(self._choose)
        self.rows.entered_by_key.connect(self._choose)
        self.rows.typed.connect(self._type)

    def open_at(self, name: str) -> None:
        """Open the card with that lesson selected."""
        self.open()
        self.rows.setFocus()
        found = next((row for row in self.rows.lessons() if _lesson(row).name == name), None)
        if found is not None:
            self.rows.setCurrentItem(found)
            self.rows.scrollToItem(found, QListWidget.ScrollHint.PositionAtCenter)

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """Go from the search to the list with the down arrow; leave other keys to the card."""
        if happened.key() == Qt.Key.Key_Down and self.search.hasFocus():
            self.rows.setFocus()
        else:
            super().keyPressEvent(happened)

    def _arrange(self) -> None:
        """Show only the lessons with all words of the search, and select the best."""
        words = self.search.text().casefold().split()
        self.rows.show_found(words)
        found = self.rows.shown()
        self.nothing.setVisible(not found)
        best = min(found, key=lambda row: _rank(_lesson(row), words), default=None)
        if best is not None and (words or self.rows.currentItem() is None):
            self.rows.setCurrentItem(best)
        if (current := self.rows.currentItem()) is not None:
            self.rows.scrollToItem(current, QListWidget.ScrollHint.EnsureVisible)

    def _open_best(self) -> None:
        current = self.rows.currentItem()
        if self.search.text().strip() and current is not None and not current.isHidden():
            self._choose(current)

    def _type(self, text: str) -> None:
        self.search.setFocus()
        self.search.insert(text)

    def _choose(self, item: QListWidgetItem) -> None:
        if item.data(LESSON) is not None and not self.is_leaving:
            file = _lesson(item).file
            self.leave_after(lambda: self.chosen.emit(builtin(file)))


class _Rows(QListWidget):
    """A row for each lesson, under the name of its part."""

    entered_by_key = Signal(QListWidgetItem)
    typed = Signal(str)
    """Letters typed in the list, which are searched for."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("bare", True)
        self.setProperty("cards", True)
        self.setAccessibleName(tr("Lessons"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.setItemDelegate(_Painted(self, "heading", "title", "caption"))

    def add_part(self, name: str) -> None:
        """Append the title of a part; it cannot be selected."""
        item = QListWidgetItem(self)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, name)
        item.setFlags(Qt.ItemFlag.NoItemFlags)

    def add_lesson(self, number: int, lesson: LessonSummary, reached: LessonState) -> None:
        """Append a lesson with its progress."""
        item = QListWidgetItem(self)
        state = _state(lesson, reached)
        item.setData(LESSON, lesson)
        item.setData(NUMBER, number)
        item.setData(STATE, state)
        item.setData(SHARE, reached.steps_done(lesson.steps) / lesson.steps)
        named = f"{number}. {lesson.title}{', ' + state if state else ''}"
        item.setData(Qt.ItemDataRole.AccessibleTextRole, named)
        about = tr("{about}, {time}", about=lesson.about, time=minutes_text(lesson.minutes))
        item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, about)

    def lessons(self) -> list[QListWidgetItem]:
        """Return the rows that can be chosen."""
        every = (self.item(at) for at in range(self.count()))
        return [row for row in every if row.data(LESSON) is not None]

    def shown(self) -> list[QListWidgetItem]:
        """Return the rows that the search leaves."""
        return [row for row in self.lessons() if not row.isHidden()]

    def show_found(self, words: Sequence[str]) -> None:
        """Show the lessons with all of ``words``, under the parts that have any."""
        head: QListWidgetItem | None = None
        for at in range(self.count()):
            row = self.item(at)
            if row.data(LESSON) is None:
                head = row
                head.setHidden(True)
                continue
            found = _rank(_lesson(row), words) < MISSING
            row.setHidden(not found)
            if found and head is not None:
                head.setHidden(False)

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """Choose with Return or Space, move with the arrows; leave Esc to the card."""
        item = self.currentItem()
        enters = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
        if happened.key() in enters and item is not None:
            if not happened.isAutoRepeat():
                self.entered_by_key.emit(item)
        elif happened.key() == Qt.Key.Key_Escape:
            happened.ignore()
        elif happened.text().isprintable() and happened.text().strip():
            self.typed.emit(happened.text())
        else:
            super().keyPressEvent(happened)


class _Painted(TextDelegate):
    """Delegate that paints number, title, description and progress of a lesson."""

    SIDE, FIRST, BETWEEN, ABOVE, GAP, BAR = 14, 34, 12, 6, 6, 64
    """Pixels: at the side, for the number, between columns, above words, between rows, the bar."""

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
        state, minutes = str(index.data(STATE)), minutes_text(lesson.minutes)
        share = float(index.data(SHARE))
        length = self.BAR if 0 < share < 1 else 0
        side = self.width_of("caption", state) + 1
        width = max(side + length + 10 * bool(length), self.width_of("caption", minutes) + 1)
        right = QRect(room)
        right.setLeft(room.right() + 1 - width)
        room.setLeft(at.right() + 1 + self.BETWEEN)
        room.setRight(right.left() - self.BETWEEN)
        title, about = QRect(room), QRect(room)
        title.setHeight(self.height_of("title"))
        about.setTop(about.bottom() + 1 - self.height_of("caption"))
        upper = QRect(right.left(), title.top(), width, title.height())
        lower = QRect(right.left(), about.top(), width, about.height())
        self.write(painter, "caption", state, upper, RIGHT)
        self.write(painter, "caption", minutes, lower, RIGHT)
        if length:
            self._bar(painter, share, QPointF(right.right() - side - 9, upper.center().y()))
        self.write(painter, "title", lesson.title, title)
        self.write(painter, "caption", lesson.about, about)

    def _bar(self, painter: QPainter, share: float, end: QPointF) -> None:
        """Paint the share of the steps that are done as a bar that ends there."""
        bar = QRectF(end.x() - self.BAR, end.y() - 1, self.BAR, 4)
        color = self.color_of("title")
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        for width, opacity in ((self.BAR, 0.2), (self.BAR * share, 0.8)):
            bar.setWidth(width)
            color.setAlphaF(opacity)
            painter.setBrush(color)
            painter.drawRoundedRect(bar, 2, 2)


def _rank(lesson: LessonSummary, words: Sequence[str]) -> int:
    """Return how well a lesson fits: 0 by its title, 3 by its whole text, else `MISSING`."""
    fields = (lesson.title, f"{lesson.about} {lesson.part}", " ".join(lesson.topics), lesson.text)
    text = ""
    for rank, field in enumerate(fields):
        text += f" {field.casefold()}"
        if all(word in text for word in words):
            return rank
    return MISSING


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


def _summary(lessons: Sequence[LessonSummary], progress: LessonProgress) -> str:
    reached = [(lesson, progress.of(lesson.name)) for lesson in lessons]
    done = sum(state.done for _, state in reached)
    if not any(state.done or state.step for _, state in reached):
        return tr("Short, one after the other: predict, then see it happen on the tape")
    left = sum(
        lesson.minutes * (1 - state.steps_done(lesson.steps) / lesson.steps)
        for lesson, state in reached
        if not state.done
    )
    rest = (
        tr(", {minutes_text} to go", minutes_text=minutes_text(max(1, math.ceil(left))))
        if left
        else ""
    )
    return tr(
        "{done} of {lessons} done{rest}",
        done=done,
        lessons=ngettext("{count:,} lesson", "{count:,} lessons", len(lessons)),
        rest=rest,
    )


def _state(lesson: LessonSummary, reached: LessonState) -> str:
    at = (
        tr("step {value} of {steps}", value=reached.step + 1, steps=lesson.steps)
        if reached.step
        else ""
    )
    return ", ".join(part for part in (tr("✓ done") if reached.done else "", at) if part)
