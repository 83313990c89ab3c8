"""The computation graph of the current step with its values, kept up to date."""

from PySide6.QtCore import QElapsedTimer, QObject

from gradscribe.app.document.scene_builder import SceneBuilder
from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.training.session.state import RunState
from gradscribe.engine.protocol.training import EventDone, StepTape
from gradscribe.playback.graph import look
from gradscribe.playback.graph.picture import Picture
from gradscribe.playback.tape import scenes
from gradscribe.playback.tape.scenes import Scene
from gradscribe.playback.tape.statements import position_after
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.graph.paint.stage import Stage
from gradscribe.widgets.training.step_graph import StepGraph

LEAST_MS = 700
"""Least time between two tapes while a run trains."""
SHARE = 12
"""Building a graph takes at most 1/SHARE of the time."""
GLIDE_MS = 450


class LiveGraph(QObject):
    """Requests tapes while its view is visible, and shows them at the run's position."""

    def __init__(self, session: TrainSession, view: StepGraph, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._view = session, view
        self.scenery = SceneBuilder(self)
        self.scenery.built.connect(self._show_picture)
        self._message: StepTape | None = None
        self._scene = Scene(0, 0, (0, 0))
        self._picture: Picture | None = None
        self._open_calls: frozenset[str] | None = None
        self._turn = 0
        self._seen = self._waits = False
        self._pace = single_shot(self, self._ask)
        session.drawn.connect(self._on_tape)
        session.store.begun.connect(self._on_begun)
        session.store.state_changed.connect(self._on_state)
        session.happened.connect(self._on_event)
        view.graph.toggled.connect(self._toggle)
        view.graph.picked.connect(lambda key: view.graph.select(key or None))

    def set_seen(self, seen: bool) -> None:
        """Request tapes only while the view is visible."""
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
        self._session.controller.ask_tape(live=True)

    def _shows(self, run: RunState) -> bool:
        """Return whether the tape shown is that of the run's next step."""
        message = self._message
        return message is not None and (message.run_id, message.step) == (run.run_id, run.step)

    def _on_begun(self, run: RunState) -> None:
        """Drop the tape of a run that restarted."""
        if run is self._session.run:
            self._message, self._open_calls, self._waits = None, None, False
            self._ask()

    def _on_state(self, run: RunState) -> None:
        if run is not self._session.run:
            return
        if not run.running:
            self._ask()
        elif not self._pace.isActive() and not self._waits:
            self._pace.start(LEAST_MS)
        self._update_caption()

    def _on_tape(self, message: StepTape) -> None:
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
        self._scene = found[scenes.scene_index_at(found, self._position())]
        self._turn += 1
        self.scenery.forget()
        at = self._position()
        self.scenery.request(message.tape, self._scene, self._open_calls, self._turn, at)

    def _show_picture(self, stage: Stage) -> None:
        if self._message is not None:
            self._picture = stage.picture
            self._view.graph.set_stage(stage)
            self._update_look(0)

    def _update_look(self, glide_ms: int) -> None:
        message, picture = self._message, self._picture
        if message is None or picture is None or self.scenery.busy:
            return
        shown = look.look_at(message.tape, picture, self._scene, self._position())
        self._view.graph.set_look(shown, glide_ms)
        self._update_caption()

    def _position(self) -> int:
        """Return the run's position on the tape: its end, unless the run stands inside a step."""
        message, run = self._message, self._session.run
        if message is None:
            return 0
        done = len(run.happened) if run is not None and self._shows(run) else 0
        texts = [text for _, text in run.begun.lines] if run is not None and run.begun else []
        return position_after(message.tape, texts, done) if done else len(message.tape.events)

    def _on_event(self, happened: EventDone | None) -> None:
        run = self._session.run
        if run is None or not self._seen:
            return
        if happened is None:
            self._ask()
        elif self._shows(run):
            self._update_look(GLIDE_MS)

    def _toggle(self, key: str) -> None:
        """Open a folded module or fold an open one."""
        if self._picture is not None:
            now = {frame.key for frame in self._picture.frames}
            self._open_calls = frozenset(now ^ {key})
            self._show()

    def _update_caption(self) -> None:
        message, run = self._message, self._session.run
        if message is None or run is None:
            return
        done, lines = len(run.happened), run.begun.lines if run.begun is not None else ()
        if done and self._shows(run) and done <= len(lines):
            words = f"step {message.step + 1:,} · {lines[done - 1][1].splitlines()[0]}"
        elif run.running:
            words = f"step {message.step + 1:,}"
        else:
            words = f"step {message.step + 1:,}, before it is made · Line steps through it"
        self._view.set_caption(words)
