"""The computation graph of the step that is being made, with its numbers, kept up to date."""

from bisect import bisect_right
from itertools import accumulate

from PySide6.QtCore import QElapsedTimer, QObject

from app.scenery import Scenery
from app.training.session import TrainSession
from app.training.state import Run
from engine.tape import Tape
from engine.training import Happened, StepTape
from playback import look, scenes
from playback.picture import Picture
from playback.scenes import Scene
from widgets.once import once
from widgets.paint.stage import Stage
from widgets.training.step_graph import StepGraph

LEAST_MS = 700
"""While a run plays its graph is made anew so often at most."""
SHARE = 12
"""What making one costs here is at most this part of the time."""
GLIDE_MS = 450
_AT = ("op", "enter", "leave", "leaf", "backward", "zero_grad", "step")
"""Events whose lines tell which statement runs; a backward node has the line of its op."""


class LiveGraph(QObject):
    """Asks for tapes while its view is seen, and shows them where the run stands."""

    def __init__(
        self, session: TrainSession, view: StepGraph, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._view = session, view
        self.scenery = Scenery(self)
        self.scenery.built.connect(self._show_picture)
        self._message: StepTape | None = None
        self._scene = Scene(0, 0, (0, 0))
        self._picture: Picture | None = None
        self._open_calls: frozenset[str] | None = None
        self._turn = 0
        self._seen = self._waits = False
        self._pace = once(self, self._ask)
        session.drawn.connect(self._take)
        session.begun.connect(self._begin)
        session.stated.connect(self._follow)
        session.happened.connect(self._move)
        view.graph.toggled.connect(self._toggle)
        view.graph.picked.connect(lambda key: view.graph.select(key or None))

    def set_seen(self, seen: bool) -> None:
        """Ask for tapes only while somebody looks."""
        if seen != self._seen:
            self._seen, self._waits = seen, False
            self._pace.stop()
            self._ask()

    def close(self) -> None:
        """Let the worker thread end."""
        self._pace.stop()
        self.scenery.close()

    def _ask(self) -> None:
        run = self._session.run
        if not self._seen or self._waits or run is None or not run.alive or run.begun is None:
            return
        if run.happened or self._shows(run):
            return
        self._waits = True
        self._session.ask_tape(live=True)

    def _shows(self, run: Run) -> bool:
        """Whether what is shown is the step that the run makes next."""
        message = self._message
        return message is not None and (message.run_id, message.step) == (run.run_id, run.step)

    def _begin(self, run: Run) -> None:
        """Forget the tape of a run that began anew."""
        if run is self._session.run:
            self._message, self._open_calls, self._waits = None, None, False
            self._ask()

    def _follow(self, run: Run) -> None:
        if run is not self._session.run:
            return
        if not run.running:
            self._ask()
        elif not self._pace.isActive() and not self._waits:
            self._pace.start(LEAST_MS)
        self._say()

    def _take(self, message: StepTape) -> None:
        self._waits = False
        run = self._session.run
        if run is None or message.run_id != run.run_id or not self._seen:
            return
        clock = QElapsedTimer()
        clock.start()
        self._message = message
        self._show()
        if run.running:
            self._pace.start(max(LEAST_MS, SHARE * clock.elapsed()))

    def _show(self) -> None:
        message = self._message
        if message is None:
            return
        found = scenes.scenes(message.tape)
        self._scene = found[scenes.scene_at(found, self._position())]
        self._turn += 1
        self.scenery.forget()
        at = self._position()
        self.scenery.want(message.tape, self._scene, self._open_calls, self._turn, at)

    def _show_picture(self, stage: Stage) -> None:
        if self._message is not None:
            self._picture = stage.picture
            self._view.graph.set_stage(stage)
            self._look(0)

    def _look(self, glide_ms: int) -> None:
        message, picture = self._message, self._picture
        if message is None or picture is None or self.scenery.busy:
            return
        shown = look.look(message.tape, picture, self._scene, self._position())
        self._view.graph.set_look(shown, glide_ms)
        self._say()

    def _position(self) -> int:
        """Return how far along the tape the run is: all of it, but within a step that is open."""
        message, run = self._message, self._session.run
        if message is None:
            return 0
        done = len(run.happened) if run is not None and self._shows(run) else 0
        texts = [text for _, text in run.begun.lines] if run is not None and run.begun else []
        return reached(message.tape, texts, done) if done else len(message.tape.events)

    def _move(self, happened: Happened | None) -> None:
        run = self._session.run
        if run is None or not self._seen:
            return
        if happened is None:
            self._ask()
        elif self._shows(run):
            self._look(GLIDE_MS)

    def _toggle(self, key: str) -> None:
        """Open a folded module or fold an open one."""
        if self._picture is not None:
            now = {frame.key for frame in self._picture.frames}
            self._open_calls = frozenset(now ^ {key})
            self._show()

    def _say(self) -> None:
        message, run = self._message, self._session.run
        if message is None or run is None:
            return
        done, lines = len(run.happened), run.begun.lines if run.begun is not None else ()
        if done and self._shows(run) and done <= len(lines):
            words = f"step {message.step + 1:,} · {lines[done - 1][1].splitlines()[0]}"
        elif run.running:
            words = f"step {message.step + 1:,}"
        else:
            words = f"step {message.step + 1:,}, as it will be made · Line goes through it"
        self._view.set_caption(words)


def reached(tape: Tape, texts: list[str], done: int) -> int:
    """Return the position on a step's tape after the first ``done`` of its statements."""
    starts = list(accumulate((len(text.splitlines()) for text in texts), initial=1))
    for at, event in enumerate(tape.events):
        if event.kind in _AT and event.line and bisect_right(starts, event.line) > done:
            return at
    return len(tape.events)
