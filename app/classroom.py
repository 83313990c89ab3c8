"""The lesson dock: the lesson's pane, the tables it opens, and the list of lessons."""

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QTabWidget, QWidget

from app import lessons
from app.kept import Kept
from app.learning import Learning
from app.lesson_list import LessonList, upcoming
from app.panels import Columns, Panel
from app.playing import Clock
from app.progress import Progress
from app.session import Session
from app.settings import Settings
from app.showing import Showing
from playback.lessons.lesson import Lesson
from widgets.lesson_pane import LessonPane
from widgets.scrubber import Scrubber


class Classroom(QObject):
    """Own the lesson pane and the lesson controller, and attach them to the window."""

    def __init__(
        self,
        session: Session,
        clock: Clock,
        showing: Showing,
        settings: Settings,
        set_by: Callable[[], Kept],
        take_up: Callable[[Kept], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self.pane = LessonPane()
        self.panel = Panel(self.pane, "Lesson")
        self.progress = Progress(settings)
        self.learning = Learning(
            session, clock, showing, self.pane, self.progress, set_by, take_up, parent=self
        )
        self._open: Callable[[Lesson], None] = self.learning.open

    def settle(
        self,
        ground: QWidget,
        columns: Columns,
        tables: Mapping[str, tuple[QTabWidget, QWidget]],
        open_lesson: Callable[[Lesson], None],
        scrubber: Scrubber,
    ) -> None:
        """Attach to the window: the list floats over ``ground``; a step may open ``tables``."""
        self._scrubber = scrubber
        self._ground, self._columns, self._tables, self._open = ground, columns, tables, open_lesson
        self.learning.changed.connect(self._show)
        self.learning.table_wanted.connect(self._show_table)
        self.learning.finished.connect(self._go_on)
        self.pane.contents_pressed.connect(self.show_lessons)
        self._show()

    def show_lessons(self, after: str = "") -> None:
        """Open the list at the lesson to continue with."""
        every = lessons.listed()
        now = self.learning.lesson
        at = upcoming(every, self.progress, after) if after or now is None else now.name
        shown = LessonList(self._ground, every, self.progress)
        shown.chosen.connect(self._open)
        shown.open_at(at or every[0].name)

    def _go_on(self, name: str) -> None:
        self.show_lessons(after=name)

    def _show(self) -> None:
        # In a narrow window each step begins with the graph visible.
        self._columns.show_aside(self.learning.lesson is not None)
        # Keep Back and Next at the same place for every step's program.
        self._scrubber.keep_height(self.learning.lesson is not None)

    def _show_table(self, name: str) -> None:
        if name in self._tables:
            tabs, page = self._tables[name]
            tabs.setCurrentWidget(page)
            self._columns.turn_to(self._columns.right.isAncestorOf(page))
