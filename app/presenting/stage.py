"""The state of the program's page as a slide, and a slide shown on it."""

import hashlib
from typing import get_args

from PySide6.QtCore import QObject

from gradscribe.app.document.clock import PlaybackClock
from gradscribe.app.document.presenter import Presenter
from gradscribe.app.document.session import Session
from gradscribe.app.files.settings import Settings
from gradscribe.app.ui.theming import Theming
from gradscribe.engine.protocol.lecture.slides import Sight, Slide
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.flow.highlight import Highlight, Question
from gradscribe.playback.graph.coloring import MODES
from gradscribe.playback.tape.loops.steps import steps_of
from gradscribe.widgets.graph.sight import camera_of, sight_of
from gradscribe.widgets.graph.view import GraphView

DIGITS = 16


def digest(source: str) -> str:
    """Return what slides know a program by."""
    return hashlib.sha256(source.encode("utf-8", "replace")).hexdigest()[:DIGITS]


def place_of(tape: Tape, slide: Slide) -> int | None:
    """Return the position of a slide on a tape; None if its step was not recorded in full."""
    if not slide.step:
        return min(slide.position, len(tape.events))
    found = steps_of(tape)
    if not (slide.step <= len(found) and found.is_full(slide.step)):
        return None
    start, stop = found.span(slide.step)
    return min(start + slide.position, stop)


class SlideStage(QObject):
    """Read and write the state of the program's page."""

    def __init__(
        self,
        session: Session,
        clock: PlaybackClock,
        presenter: Presenter,
        graph: GraphView,
        settings: Settings,
        look: Theming,
    ) -> None:
        super().__init__(graph)
        self._session, self._clock, self._presenter = session, clock, presenter
        self._graph, self._settings = graph, settings
        self._awaited: Sight | None = None
        """The part of the graph to show once its picture is drawn in the right size."""
        self._waits_for: set[str] = set()
        presenter.picture_shown.connect(lambda: self._aim("picture"))
        look.settled.connect(lambda: self._aim("text"))

    def take(self, before: Slide) -> Slide:
        """Return the state as it is now, with title, note and way of revealing of ``before``."""
        session, graph = self._session, self._graph
        view, doc, result = session.view, session.doc, session.result
        graph.finish_motion()
        whole = graph.shows_whole
        sight = Sight() if whole else sight_of(graph.stage(), graph.camera(), graph.canvas.size)
        found = steps_of(result.tape)
        step = found.number_at(view.position) if view.position else 0
        asked = view.highlight
        return Slide(
            title=before.title,
            note=before.note,
            position=view.position - (found.span(step)[0] if step else 0),
            step=step,
            source=digest(result.source),
            sight=sight,
            open_calls=None if doc.open_calls is None else tuple(sorted(doc.open_calls)),
            selection=view.selection,
            values=view.values,
            gradients=view.gradients,
            shapes=view.shapes,
            order=view.order,
            coloring=view.coloring,
            flow=view.flow,
            gradient_only=view.gradient_only,
            asked=None if asked is None else (asked.question, asked.key, asked.way),
            blank=session.hiding.is_on,
            shown=tuple(sorted(session.hiding.shown)),
            at_once=before.at_once,
            text=self._settings.number("presenting_text"),
        )

    def show(self, slide: Slide) -> bool:
        """Show the state of a slide; False if its step was not recorded in full.

        Title, note and what the audience does not see are left alone.
        """
        session = self._session
        self._clock.pause()
        if not session.doc.lesson:
            session.hide_gradients(slide.blank, frozenset(slide.shown))
        calls = None if slide.open_calls is None else frozenset(slide.open_calls)
        self._awaited = None
        with self._presenter.single_page_update():
            session.open_calls(calls)
            place = place_of(session.result.tape, slide)
            if place is not None:
                session.move(place)
            self._show_layers(slide)
            session.select(slide.selection)
            session.set_highlight(_question(slide))
        self._waits_for = set() if self._presenter.is_drawn else {"picture"}
        now = self._settings.number("presenting_text")
        if self._settings.flag("presenting") and slide.text != now:
            self._waits_for.add("text")
            self._settings.put("presenting_text", slide.text)
        self._awaited = slide.sight
        self._aim("")
        return place is not None

    def _show_layers(self, slide: Slide) -> None:
        session = self._session
        session.show_layers(
            {
                "values": slide.values,
                "gradients": slide.gradients,
                "shapes": slide.shapes,
                "order": slide.order,
            }
        )
        session.set_coloring(next((mode for mode in MODES if mode == slide.coloring), ""))
        session.set_flow("right" if slide.flow == "right" else "down")
        session.set_gradient_only(slide.gradient_only)

    def _aim(self, come: str) -> None:
        """Show the part of the graph that is due, once the picture or the text has ``come``.

        Text of another size gives the graph another size.
        """
        sight, graph = self._awaited, self._graph
        if sight is None or not self._presenter.is_drawn:
            return
        self._waits_for.discard(come)
        if not self._waits_for:
            self._awaited = None
        camera = camera_of(graph.stage(), sight, graph.canvas.size)
        if camera is not None:
            graph.glide_to(camera)
            return
        graph.fit()
        if self._settings.flag("presenting"):
            # A gradient that is revealed would bring back the size to read from afar.
            graph.finish_motion()
            graph.glide_to(graph.camera())


def _question(slide: Slide) -> Highlight | None:
    if slide.asked is None:
        return None
    name, key, way = slide.asked
    question = next((known for known in get_args(Question) if known == name), None)
    return None if question is None else Highlight(question, key, way)
