"""The slides of a lecture: made from what is shown, ordered, and shown again one after another."""

from PySide6.QtCore import QObject, Signal

from gradscribe.app.document.session import Session
from gradscribe.app.presenting.stage import SlideStage, digest
from gradscribe.engine.protocol.lecture.slides import MAX_NOTE, MAX_SLIDES, MAX_TITLE, Slide
from gradscribe.engine.protocol.structs import replace
from gradscribe.playback.translation import tr


class Slides(QObject):
    """The slides of the document, of which one may be the current slide."""

    changed = Signal()
    """The slides, or which is the current one, changed."""
    said = Signal(str)
    removed = Signal(int, object)
    """A slide was removed: its place, and the slide."""

    def __init__(self, session: Session, stage: SlideStage) -> None:
        super().__init__(session)
        self._session, self._stage = session, stage
        self._at = -1
        self._known = session.doc.slides
        session.begun.connect(self._begin)
        session.doc_changed.connect(self._follow)
        session.tape_changed.connect(self.changed)

    @property
    def all(self) -> tuple[Slide, ...]:
        """The slides in order."""
        return self._session.doc.slides

    @property
    def at(self) -> int:
        """Index of the current slide; -1 if none was shown yet."""
        return self._at if self._at < len(self.all) else -1

    @property
    def current(self) -> Slide | None:
        """The current slide."""
        return self.all[self.at] if self.at >= 0 else None

    def is_of_this_run(self, slide: Slide) -> bool:
        """Return whether a slide was made for the program whose run is shown."""
        return slide.source == digest(self._session.result.source)

    # The list

    def add(self) -> None:
        """Make a slide of what is shown, after the current one."""
        if len(self.all) >= MAX_SLIDES:
            self.said.emit(tr("A lecture has at most {most} slides", most=MAX_SLIDES))
            return
        at = self.at + 1 if self.at >= 0 else len(self.all)
        made = self._stage.take(Slide())
        self._at = at
        self._put((*self.all[:at], made, *self.all[at:]))
        self.said.emit(tr("Slide {number} is made", number=at + 1))

    def replace(self) -> None:
        """Take what is shown into the current slide; its title and note stay."""
        if self.current is not None:
            self._change(self._stage.take(self.current))
            self.said.emit(tr("Slide {number} shows this now", number=self.at + 1))

    def remove(self) -> None:
        """Remove the current slide."""
        slide, at = self.current, self.at
        if slide is None:
            return
        self._at = min(at, len(self.all) - 2)
        self._put((*self.all[:at], *self.all[at + 1 :]))
        self.removed.emit(at, slide)

    def insert(self, at: int, slide: Slide) -> None:
        """Put a slide back at a place."""
        self._at = min(at, len(self.all))
        self._put((*self.all[:at], slide, *self.all[at:]))

    def move(self, by: int) -> None:
        """Move the current slide to a later (1) or an earlier (-1) place."""
        slide, to = self.current, self.at + by
        if slide is not None and 0 <= to < len(self.all):
            rest = (*self.all[: self.at], *self.all[self.at + 1 :])
            self._at = to
            self._put((*rest[:to], slide, *rest[to:]))

    def write(self, title: str, note: str, at_once: bool) -> None:
        """Set title, note and way of revealing of the current slide."""
        slide = self.current
        if slide is not None:
            title, note = title[:MAX_TITLE], note[:MAX_NOTE]
            self._change(replace(slide, title=title, note=note, at_once=at_once))

    def mark_saved(self, slides: tuple[Slide, ...]) -> None:
        """Note that these slides are in a file."""
        self._session.set_slides(self.all, slides)

    def _change(self, slide: Slide) -> None:
        self._put((*self.all[: self.at], slide, *self.all[self.at + 1 :]))

    def _put(self, slides: tuple[Slide, ...]) -> None:
        self._known = slides
        self._session.set_slides(slides, self._session.doc.saved_slides)
        self.changed.emit()

    # Showing

    def go(self, at: int) -> None:
        """Show a slide by its index."""
        if not 0 <= at < len(self.all):
            return
        self._at = at
        slide = self.all[at]
        if not self._stage.show(slide):
            text = tr("Step {step:,} was not recorded in full in this run", step=slide.step)
            self.said.emit(text)
        elif not self.is_of_this_run(slide):
            self.said.emit(tr("The program has changed since this slide was made"))
        self.changed.emit()

    def step(self, by: int) -> None:
        """Show the next slide (1) or the one before (-1); before any was shown, the first."""
        at = self.at + by if self.at >= 0 else 0
        if 0 <= at < len(self.all):
            self.go(at)

    def _begin(self) -> None:
        self._at = -1

    def _follow(self) -> None:
        if self._session.doc.slides != self._known:
            self._known = self._session.doc.slides
            self.changed.emit()
