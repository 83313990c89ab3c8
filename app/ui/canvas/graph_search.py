"""Search in the graph: step through matches, opening the modules that hide them."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QRectF, QSizeF, Signal

from gradscribe.app.document.presenter import Presenter
from gradscribe.app.document.session import Session
from gradscribe.app.ui.canvas.graph_overlay import GraphOverlay
from gradscribe.playback.graph import search
from gradscribe.playback.graph.search import Match
from gradscribe.playback.tape.scenes import scene_index_at
from gradscribe.playback.translation import tr
from gradscribe.widgets.graph.camera import fitting
from gradscribe.widgets.graph.view import GraphView
from gradscribe.widgets.tables.value_table import ValueTable

READABLE = 0.6
"""A match is shown at least at this zoom."""

SceneMatch = tuple[int, Match]
"""A match, with the number of its scene."""


class GraphSearch(QObject):
    """Search all scenes of the tape and bring matches into view."""

    counted = Signal(str)
    """Text with the current match, their number and the scene: ``2 of 5 · Step 1 of 3``."""

    def __init__(
        self, session: Session, showing: Presenter, graph: GraphView, values: ValueTable
    ) -> None:
        super().__init__(showing)
        self.session, self.presenter, self.graph = session, showing, graph
        self._query = ""
        self.matches: tuple[SceneMatch, ...] = ()
        """The matches, each with the number of its scene."""
        self._at = -1
        self._origin: int | None = None
        """Position at which typing began; None once a match was chosen."""
        self._brought_to = -1
        """Position at which the latest search left the playback."""
        self._wanted: SceneMatch | None = None
        self._tried: set[str] = set()
        self._is_new_tape = False
        """True until the first picture of a tape that has changed."""
        showing.picture_shown.connect(self._follow)
        values.picked.connect(self.show_value)
        session.tape_changed.connect(self._search_again)

    def search(self, query: str) -> None:
        """Search all scenes for ``query`` and show the best match from the current scene on.

        The current scene is that at which typing began: a match in another scene, which the first
        letters found, does not take the search away from it.
        """
        begins = not self._query.strip() or self.session.view.position != self._brought_to
        if begins or self._origin is None:
            self._origin = self.session.view.position
        self._query = query
        here = scene_index_at(self.presenter.scenes, self._origin)
        self._find(here)
        self._at = search.best(self.session.result.tape, self.matches, query, here)
        self._report()
        if self.matches:
            self._tried = set()
            self._show(self.matches[self._at])
        elif self.presenter.scene_number != here:
            self._return()
        self._brought_to = self.session.view.position

    def _return(self) -> None:
        """Go back to the position at which typing began."""
        self._wanted = None
        if self._origin is not None:
            self.session.move(self._origin)

    def step(self, back: bool = False) -> None:
        """Show the next match, or the previous one, wrapping around."""
        if not self.matches:
            return
        count = len(self.matches)
        self._at = ((self._at - 1) if back else self._at + 1) % count
        self._report()
        self._tried = set()
        self._show(self.matches[self._at])
        # From a match that was chosen, the search goes on from there.
        self._origin = None

    def show_value(self, value: int) -> None:
        """Select the card of a value of this scene, opening the modules that hide it.

        A folded block of equal modules would show the numbers of its first one.
        """
        self._tried = set()
        self._origin = None
        self._show((self.presenter.scene_number, Match(value=value)))

    def _find(self, here: int) -> None:
        showing = self.presenter
        self.matches = search.find_all(self.session.result.tape, showing.scenes, self._query, here)

    def _report(self) -> None:
        if self.matches:
            # After a change of the tape no match is current until the next step.
            where = self.presenter.scenes[self.matches[max(self._at, 0)][0]].title
            words = tr(
                "{value} of {matches_count}", value=self._at + 1, matches_count=len(self.matches)
            )
            self.counted.emit(f"{words} · {where}" if where else words)
        else:
            self.counted.emit(tr("None found") if self._query.strip() else "")

    def _search_again(self) -> None:
        """Search again after a run, and keep the index of the current match."""
        self._origin = None
        if self._query:
            self._find(self.presenter.scene_number)
            self._at = min(self._at, len(self.matches) - 1)
            self._is_new_tape = True
            self._report()

    def _follow(self) -> None:
        if self._is_new_tape and self._wanted is None:
            self._is_new_tape = False
            self._count_here()
        if self._wanted is not None:
            self._show(self._wanted)

    def _count_here(self) -> None:
        """Count on from the scene in view: a loop that runs on goes on to its later steps."""
        here = self.presenter.scene_number
        if self.matches and self.matches[max(self._at, 0)][0] != here:
            tape = self.session.result.tape
            best = search.best(tape, self.matches, self._query, here)
            if self.matches[best][0] == here:
                self._at = best
                self._report()

    def _position_in(self, number: int) -> int:
        """Return where to go in a scene: its end, or where typing began if that is in it."""
        scenes, origin = self.presenter.scenes, self._origin
        if origin is not None and scene_index_at(scenes, origin) == number:
            return origin
        return scenes[number].stop

    def _show(self, found: SceneMatch) -> None:
        """Select a match; go to its scene first, and open the next module that hides it."""
        self._wanted = None
        number, match = found
        if number != self.presenter.scene_number:
            # At its end a scene shows everything that happened in it.
            self._wanted = found
            self.session.move(self._position_in(number))
            if self._wanted is None or self.presenter.scene_builder.busy:
                return
            self._wanted = None
        picture = self.presenter.picture
        key, itself = search.locate(picture, match)
        if key and not itself and key not in self._tried:
            self._tried.add(key)
            self._wanted = found
            frames = {frame.key for frame in picture.frames}
            self.session.open_calls(frozenset(frames | {key}))
        elif key:
            self.session.select(key)
            bring_into_view(self.graph, key)


def bring_into_view(graph: GraphView, key: str) -> None:
    """Bring a card into view at a readable zoom, or fit a module's whole frame."""
    stage, view = graph.stage(), QSizeF(graph.size())
    frame = stage.frame_boxes.get(key)
    if frame is not None:
        graph.set_camera(fitting(frame, view))
        return
    box = stage.boxes.get(key)
    camera = graph.camera()
    if box is None:
        return
    seen = QRectF(graph.rect()).adjusted(16, 40, -16, -40)
    if camera.zoom < READABLE or not seen.contains(camera.box_to_view(box)):
        graph.center_on(key, max(camera.zoom, READABLE))


def connect_overlay(
    over: GraphOverlay, finder: GraphSearch, perform: Callable[[str], None]
) -> None:
    """Connect the buttons on the canvas; ``perform`` executes a command by its id."""
    session, showing, graph = finder.session, finder.presenter, finder.graph
    tools = over.tools

    def visit(key: str) -> None:
        session.select(key)
        bring_into_view(graph, key)

    showing.path_changed.connect(over.set_path)
    showing.picture_shown.connect(lambda: tools.set_modules(bool(showing.module_keys())))
    over.legend_resized.connect(graph.reserve_corner)
    over.crumbs.picked.connect(visit)
    tools.fit_pressed.connect(graph.fit)
    tools.collapse_pressed.connect(lambda: perform("view.collapse"))
    tools.expand_pressed.connect(lambda: perform("view.expand"))
    tools.searched.connect(finder.search)
    tools.stepped.connect(finder.step)
    finder.counted.connect(tools.show_count)
