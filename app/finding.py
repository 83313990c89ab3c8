"""Search in the graph: step through matches, opening the modules that hide them."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QRectF, QSizeF, Signal

from app.over_graph import OverGraph
from app.session import Session
from app.showing import Showing
from playback import search
from playback.search import Match
from widgets.camera import fitting
from widgets.graph_view import GraphView

READABLE = 0.6
"""A match is shown at least at this zoom."""


Found = tuple[int, Match]
"""A match, with the number of its scene."""


class Finder(QObject):
    """Search all scenes of the tape and bring matches into view."""

    counted = Signal(str)
    """Text with the current match, their number and the scene: ``2 of 5 · Step 1 of 3``."""

    def __init__(self, session: Session, showing: Showing, graph: GraphView) -> None:
        super().__init__(showing)
        self.session, self.showing, self.graph = session, showing, graph
        self._query = ""
        self._matches: tuple[Found, ...] = ()
        self._at = -1
        self._wanted: Found | None = None
        self._tried: set[str] = set()
        showing.pictured.connect(self._follow)
        session.tape_changed.connect(self._search_again)

    def search(self, query: str) -> None:
        """Search all scenes for ``query`` and show the first match from the current scene on."""
        self._query = query
        self._find()
        here = self.showing.scene_number
        self._at = next((n for n, (at, _) in enumerate(self._matches) if at >= here), 0) - 1
        if self._matches:
            self.step()
        else:
            self._tell()

    def step(self, back: bool = False) -> None:
        """Show the next match, or the previous one, wrapping around."""
        if not self._matches:
            return
        count = len(self._matches)
        self._at = ((self._at - 1) if back else self._at + 1) % count
        self._tell()
        self._tried = set()
        self._show(self._matches[self._at])

    def matches(self) -> tuple[Found, ...]:
        """Return the matches, each with the number of its scene."""
        return self._matches

    def _find(self) -> None:
        showing = self.showing
        self._matches = search.find_all(
            self.session.result.tape, showing.scenes, self._query, showing.scene_number
        )

    def _tell(self) -> None:
        if self._matches:
            # After a change of the tape no match is current until the next step.
            where = self.showing.scenes[self._matches[max(self._at, 0)][0]].title
            words = f"{self._at + 1} of {len(self._matches)}"
            self.counted.emit(f"{words} · {where}" if where else words)
        else:
            self.counted.emit("None found" if self._query.strip() else "")

    def _search_again(self) -> None:
        """Search again after a run, and keep the index of the current match."""
        if self._query:
            self._find()
            self._at = min(self._at, len(self._matches) - 1)
            self._tell()

    def _follow(self) -> None:
        if self._wanted is not None:
            self._show(self._wanted)

    def _show(self, found: Found) -> None:
        """Select a match; go to its scene first, and open the next module that hides it."""
        self._wanted = None
        number, match = found
        if number != self.showing.scene_number:
            # At its end a scene shows everything that happened in it.
            self._wanted = found
            self.session.move(self.showing.scenes[number].stop)
            if self._wanted is None or self.showing.scenery.busy:
                return
            self._wanted = None
        picture = self.showing.picture
        key, itself = search.locate(picture, match)
        if key and not itself and key not in self._tried:
            self._tried.add(key)
            self._wanted = found
            frames = {frame.key for frame in picture.frames}
            self.session.open_calls(frozenset(frames | {key}))
        elif key:
            self.session.select(key)
            look_at(self.graph, key)


def look_at(graph: GraphView, key: str) -> None:
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


def join(over: OverGraph, finder: Finder, perform: Callable[[str], None]) -> None:
    """Connect the buttons on the canvas; ``perform`` executes a command by its id."""
    session, showing, graph = finder.session, finder.showing, finder.graph
    tools = over.tools

    def visit(key: str) -> None:
        session.select(key)
        look_at(graph, key)

    showing.pathed.connect(over.set_path)
    showing.pictured.connect(lambda: tools.set_modules(bool(showing.module_keys())))
    over.keyed.connect(graph.keep_clear)
    over.crumbs.picked.connect(visit)
    tools.fit_pressed.connect(graph.fit)
    tools.collapse_pressed.connect(lambda: perform("view.collapse"))
    tools.expand_pressed.connect(lambda: perform("view.expand"))
    tools.searched.connect(finder.search)
    tools.stepped.connect(finder.step)
    finder.counted.connect(tools.show_count)
