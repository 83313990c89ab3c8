"""A lecture: presenting, its slides and their panel, blank gradients, and the zoom to a card."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from gradscribe.app.document.clock import PlaybackClock
from gradscribe.app.document.presenter import Presenter
from gradscribe.app.document.session import Session
from gradscribe.app.files.settings import Settings
from gradscribe.app.presenting.blanks import Blanks
from gradscribe.app.presenting.card_zoom import CardZoom
from gradscribe.app.presenting.presentation import Presentation
from gradscribe.app.presenting.slide_panel import SlidePanel
from gradscribe.app.presenting.slides import Slides
from gradscribe.app.presenting.stage import SlideStage
from gradscribe.app.runtime.notice import Notice, NoticeActions
from gradscribe.app.ui.theming import Theming
from gradscribe.engine.protocol.lecture.slides import Slide
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.tabs import PanelTabs
from gradscribe.widgets.graph.view import GraphView

TITLE = tr("Slides")
REMOVED = "slide"
"""Key of the notice about a slide that was removed."""


@dataclass(frozen=True)
class LectureParts:
    """The parts of the window that a lecture is made of."""

    session: Session
    clock: PlaybackClock
    presenter: Presenter
    graph: GraphView
    settings: Settings
    look: Theming
    tabs: PanelTabs
    """The tabs that the panel of slides becomes a page of."""
    notices: NoticeActions
    presentation: Presentation
    hide_gradients: Callable[[bool], None]
    """Blanks all gradients, or shows them."""
    play: Callable[[str], None]
    """Performs a command of playback by its name."""
    page: Callable[[], str]
    """Returns the name of the visible page."""


class Lecture(QObject):
    """The lecture of a window."""

    changed = Signal()
    said = Signal(str)

    def __init__(self, parts: LectureParts, parent: QObject) -> None:
        super().__init__(parent)
        self._parts, self.presentation = parts, parts.presentation
        session, presenter, graph = parts.session, parts.presenter, parts.graph
        stage = SlideStage(session, parts.clock, presenter, graph, parts.settings, parts.look)
        self.slides = Slides(session, stage)
        self.blanks = Blanks(session, presenter, parts.hide_gradients)
        self.zoom = CardZoom(session, presenter, graph)
        self.panel = panel = SlidePanel(parts.tabs)
        panel.hide()
        panel.chosen.connect(self.go)
        panel.add_pressed.connect(self.slides.add)
        panel.replace_pressed.connect(self.slides.replace)
        panel.remove_pressed.connect(self.slides.remove)
        panel.moved.connect(self.slides.move)
        panel.written.connect(self.slides.write)
        self.slides.changed.connect(self._show)
        self.slides.said.connect(self.said)
        self.slides.removed.connect(self._offer_back)
        self.blanks.changed.connect(self.changed)
        self.zoom.changed.connect(self.changed)
        session.begun.connect(lambda: parts.notices.drop(REMOVED))

    def open(self) -> None:
        """Bring the panel of slides to the front."""
        self._add_tab()
        self._parts.tabs.setCurrentWidget(self.panel)
        self.panel.setFocus()

    def add(self) -> None:
        """Make a slide of what is shown."""
        self.slides.add()
        if not self._parts.presentation.is_on:
            self._add_tab()
            self._parts.tabs.setCurrentWidget(self.panel)

    def go(self, at: int) -> None:
        """Show a slide by its index."""
        self.zoom.forget()
        self.slides.go(at)

    def step(self, by: int) -> None:
        """Show the next slide (1) or the one before (-1)."""
        self.zoom.forget()
        self.slides.step(by)

    # Keys of a remote

    def turn(self, by: int) -> None:
        """Go on (1) or back (-1): through the slides, else by what is played at a time.

        Blank gradients of the current slide are revealed before the next slide comes.
        """
        parts, slide = self._parts, self.slides.current
        if parts.page() != "program":
            parts.play("play.step" if by > 0 else "play.back")
        elif not self.slides.all:
            parts.graph.follow_on()
            parts.clock.turn(by)
        elif not (by > 0 and slide is not None and slide.blank and self._reveal(slide)):
            self.step(by)

    def _reveal(self, slide: Slide) -> bool:
        return self.blanks.reveal_all() if slide.at_once else self.blanks.reveal_next()

    def to_start(self) -> None:
        """Go to the first slide, without slides to the start of the tape."""
        if self.slides.all and self._parts.page() == "program":
            self.go(0)
        else:
            self._parts.play("play.reset")

    # The panel

    def _add_tab(self) -> None:
        # Only once there is something to see: the other tabs need the space of a narrow column.
        if self._parts.tabs.indexOf(self.panel) < 0:
            self._parts.tabs.addTab(self.panel, TITLE)

    def _show(self) -> None:
        slides = self.slides
        if slides.all:
            self._add_tab()
        self.panel.show_slides(slides.all, slides.at, slides.is_of_this_run)
        self.changed.emit()

    def _offer_back(self, at: int, slide: Slide) -> None:
        def put_back() -> None:
            self.slides.insert(at, slide)

        text = tr("Slide {number} was removed", number=at + 1)
        choices = ((tr("Put it back"), put_back), (tr("Close"), lambda: None))
        self._parts.notices.show_now(Notice(REMOVED, text, choices))
