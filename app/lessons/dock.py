"""The lesson dock: the lesson's pane, the tables it opens, and the list of lessons."""

import re
from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QTabWidget, QWidget

from gradscribe.app.document.clock import PlaybackClock
from gradscribe.app.document.presenter import Presenter
from gradscribe.app.document.session import Session
from gradscribe.app.files.session_file import SessionData
from gradscribe.app.files.settings import Settings
from gradscribe.app.lessons import catalogue
from gradscribe.app.lessons.controller import LessonController
from gradscribe.app.lessons.lesson_list import LessonList, next_lesson
from gradscribe.app.lessons.progress import LessonProgress
from gradscribe.app.ui.layout import Columns, Panel
from gradscribe.playback.lessons.lesson import Lesson
from gradscribe.playback.translation import tr
from gradscribe.widgets.lessons.pane import LessonPane
from gradscribe.widgets.transport.transport import Transport

_LOOP = re.compile(r"^\s*(?:for|while)\b", re.MULTILINE)


class LessonDock(QObject):
    """Own the lesson pane and the lesson controller, and attach them to the window."""

    listed = Signal()
    """The list of lessons was opened."""

    def __init__(
        self,
        session: Session,
        clock: PlaybackClock,
        showing: Presenter,
        settings: Settings,
        set_by: Callable[[], SessionData],
        take_up: Callable[[SessionData], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self.pane = LessonPane()
        self.panel = Panel(self.pane, tr("Lesson"))
        self.progress = LessonProgress(settings)
        self.learning = LessonController(
            session, clock, showing, self.pane, self.progress, set_by, take_up, parent=self
        )
        self._open: Callable[[Lesson], None] = self.learning.open

    def attach(
        self,
        ground: QWidget,
        columns: Columns,
        tables: Mapping[str, tuple[QTabWidget, QWidget]],
        open_lesson: Callable[[Lesson], None],
        transport: Transport,
    ) -> None:
        """Attach to the window: the list floats over ``ground``; a step may open ``tables``."""
        self._transport = transport
        self._ground, self._columns, self._tables, self._open = ground, columns, tables, open_lesson
        self.learning.changed.connect(self._show)
        self.learning.table_wanted.connect(self._show_table)
        self.learning.finished.connect(self._go_on)
        self.pane.contents_pressed.connect(self.show_lessons)
        self._show()

    def show_lessons(self, after: str = "") -> None:
        """Open the list at the lesson to continue with."""
        every = catalogue.summaries()
        now = self.learning.lesson
        at = next_lesson(every, self.progress, after) if after or now is None else now.name
        shown = LessonList(self._ground, every, self.progress)
        shown.chosen.connect(self._open)
        shown.open_at(at or every[0].name)
        self.listed.emit()

    def _go_on(self, name: str) -> None:
        self.show_lessons(after=name)

    def _show(self) -> None:
        # In a narrow window each step begins with the graph visible.
        lesson = self.learning.lesson
        self._columns.show_aside(lesson is not None)
        # Keep Back and Next at the same place for every step's program. Without a loop in any of
        # them the height is the program's: it is scarce in a low window.
        self._transport.reserve_strip(lesson is not None and _has_loop(lesson))

    def _show_table(self, name: str) -> None:
        if name in self._tables:
            tabs, page = self._tables[name]
            tabs.setCurrentWidget(page)
            self._columns.show_right(self._columns.right.isAncestorOf(page))


def _has_loop(lesson: Lesson) -> bool:
    """Return whether a program of the lesson may have steps, and so a step strip."""
    return any(_LOOP.search(step.program) for step in lesson.steps)
