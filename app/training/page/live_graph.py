"""The computation graph of the current step: each step is played as a film, or a sample of them."""

from collections import deque

from PySide6.QtCore import QElapsedTimer, QObject, Signal

from gradscribe.app.document.scene_builder import SceneBuilder
from gradscribe.app.training.page.step_film import StepFilm
from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.training.session.state import RunState
from gradscribe.engine.protocol.tape import Tape
from gradscribe.engine.protocol.training import EventDone, StepTape
from gradscribe.playback.graph import look
from gradscribe.playback.graph.expansion import keys_inside
from gradscribe.playback.graph.picture import Card, Picture
from gradscribe.playback.tape import scenes
from gradscribe.playback.tape.scenes import Scene
from gradscribe.playback.tape.statements import position_after
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.graph.paint.stage import Stage
from gradscribe.widgets.training.step_graph import StepGraph

EVERY_STEP_RATE = 2.0
"""Steps per second up to which every step is played; of a faster run a sample."""
STEP_SHARE = 0.8
"""Part of a slow step's time that its film takes: the tape has to come first."""
FILM_MS, REST_MS = 2400, 500
"""Longest film of a step that is one of a sample, and the still picture after it."""
SHARE = 12
"""Building a graph takes at most 1/SHARE of the time."""
GLIDE_MS = 450


class LiveGraph(QObject):
    """Requests tapes of steps while its view is visible, and plays them there.

    A slow run, and a run that makes single steps, has every step played. A fast run goes on while a
    step is played; then its next step is. A run that is paused is shown with the step that led to
    where it is, as the curves and views are; the tape of its next step is requested ahead.
    """

    played = Signal(object)
    """Carries the step that is shown while a run goes on without it; None for none."""

    def __init__(self, session: TrainSession, view: StepGraph, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._view = session, view
        self.scenery = SceneBuilder(self)
        self.scenery.built.connect(self._show_picture)
        self.film = StepFilm(self)
        self.film.moved.connect(self._move)
        self.film.ended.connect(self._rest)
        self._message: StepTape | None = None
        self._ahead: StepTape | None = None
        """The tape of the step that a paused run makes next, unless that is shown."""
        self._requests = deque[tuple[int, int, int | None]]()
        """Requests that are not answered: run, its step, and the step whose tape it is to be; None:
        that of the next."""
        self._far = (0, 0)
        """Run and step from which the engine does not go back to the step before."""
        self._scenes: tuple[Scene, ...] = ()
        self._scene = Scene(0, 0, (0, 0))
        self._picture: Picture | None = None
        self._open_calls: frozenset[str] | None = None
        """Modules that the user opened; None until the user opens or folds one."""
        self._legible: frozenset[str] | None = None
        """Modules that are open so that the whole picture is legible; None for all that fit."""
        self._is_legible = False
        """True once these are found."""
        self._turn = 0
        self._film_ms = 0
        """Length of the film of the next picture; 0 for a still picture."""
        self._gap = 0
        """Number of steps since the tape before."""
        self._last = (0, 0, False)
        """Run, step and whether it went on, at its last state."""
        self._stood = (0, 0)
        """Run and step where it stood last."""
        self._is_single = self._is_walked = self._seen = False
        self._pace = single_shot(self, self._ask, REST_MS)
        self._refold = single_shot(self, self._fold_again, REST_MS)
        session.drawn.connect(self._on_tape)
        session.store.begun.connect(self._on_begun)
        session.store.state_changed.connect(self._on_state)
        session.happened.connect(self._on_event)
        view.graph.toggled.connect(self._toggle)
        view.graph.picked.connect(lambda key: view.graph.select(key or None))
        view.resized.connect(self._refold.start)

    def set_seen(self, seen: bool) -> None:
        """Request tapes only while the view is visible."""
        if seen != self._seen:
            self._seen = seen
            self._forget_requests()
            self._pace.stop()
            self.film.stop()
            self._update_caption()
            self._ask()

    def close(self) -> None:
        """Let the worker thread end."""
        self._pace.stop()
        self._refold.stop()
        self.film.stop()
        self.scenery.close()

    def card(self, key: str) -> tuple[Tape, Card] | None:
        """Return a card of the picture and the tape it is of; None for an unknown key."""
        if self._picture is None or self._message is None:
            return None
        found = next((card for card in self._picture.cards if card.key == key), None)
        return None if found is None else (self._message.tape, found)

    def expand(self) -> None:
        """Open every module."""
        if self._message is not None:
            self._open_calls = keys_inside(self._message.tape, self._scene, frozenset(), None)
            self._show()

    def collapse(self) -> None:
        """Fold every module."""
        self._open_calls = frozenset()
        self._show()

    def show_tape(self) -> None:
        """Pause, and request the tape of the step that is shown for the program's page."""
        controller, message = self._session.controller, self._message
        controller.pause()
        controller.ask_tape(step=None if message is None else message.step)

    def _ask(self) -> None:
        run = self._session.run
        if not self._seen or self._requests or run is None or run.happened:
            return
        if not run.alive or run.begun is None:
            return
        if run.running:
            if not self._is_next(run):
                self._request(run, None)
            return
        if self._waits_for_made(run):
            self._request(run, run.step - 1)
        if self._ahead is None:
            self._request(run, None)

    def _request(self, run: RunState, step: int | None) -> None:
        self._requests.append((run.run_id, run.step, step))
        self._session.controller.ask_tape(live=True, step=step)

    def _waits_for_made(self, run: RunState) -> bool:
        """Return whether the step that a paused run made last is to be shown and is not."""
        # A run that failed stands before the step that failed, which says more.
        has_problem = run.state is not None and run.state.problem is not None
        is_near = self._far != (run.run_id, run.step)
        return run.step > 0 and is_near and not has_problem and not self._is_made(run)

    def _forget_requests(self) -> None:
        self._requests.clear()
        self._ahead = None

    def _is_next(self, run: RunState) -> bool:
        """Return whether the tape shown is that of the run's next step."""
        message = self._message
        return message is not None and (message.run_id, message.step) == (run.run_id, run.step)

    def _is_made(self, run: RunState) -> bool:
        """Return whether the tape shown is that of the step that the run made last."""
        message = self._message
        return message is not None and (message.run_id, message.step + 1) == (run.run_id, run.step)

    def _on_begun(self, run: RunState) -> None:
        """Drop the tape of a run that restarted."""
        if run is self._session.run:
            self.film.stop()
            self._message, self._open_calls = None, None
            self._forget_requests()
            self._legible, self._is_legible = None, False
            self._ask()

    def _on_state(self, run: RunState) -> None:
        if run is not self._session.run:
            return
        before, self._last = self._last, (run.run_id, run.step, run.running)
        if not run.running:
            self._on_pause(run, before)
            self._ask()
        elif _plays_every_step(run):
            self._ask()
        elif not (self._requests or self._pace.isActive() or self.film.plays):
            self._pace.start(REST_MS)
        self._update_caption()

    def _on_pause(self, run: RunState, before: tuple[int, int, bool]) -> None:
        """Show where a run is that does not go on; ``before``: its last state."""
        stood, self._stood = self._stood, (run.run_id, run.step)
        if before == self._last and run.happened:
            return
        # At the same step weights or settings may have changed, which the next step depends on.
        ahead, self._ahead = self._ahead, None
        if before == self._last:
            return
        if before[2]:
            self.film.stop()
            self._update_look(0)
        # Not while a pause is on its way: a run that pauses is shown as it stands. A single step of
        # a busy engine may report that it goes on, at the step where it stood.
        is_next = before[:2] == stood == (run.run_id, run.step - 1)
        self._is_single, self._is_walked = is_next and not self._is_walked, False
        if self._is_single and ahead is not None and ahead.step == run.step - 1:
            self._present(run, ahead)

    def _on_tape(self, message: StepTape) -> None:
        asked = self._requests.popleft() if self._requests else None
        run = self._session.run
        if run is None or message.run_id != run.run_id or not self._seen:
            return
        if run.running:
            self._present(run, message)
            return
        if message.step == run.step:
            if asked == (run.run_id, run.step, run.step - 1):
                self._far = (run.run_id, run.step)
            self._ahead = message
            if run.happened or not (self._is_made(run) or self._waits_for_made(run)):
                self._present(run, message)
        elif message.step == run.step - 1 and not run.happened:
            self._present(run, message)
        self._ask()

    def _present(self, run: RunState, message: StepTape) -> None:
        """Show the picture of a tape, and play it if its step was just made or is being made."""
        before, self._message = self._message, message
        is_later = before is not None and before.run_id == message.run_id
        self._gap = message.step - before.step if before is not None and is_later else 0
        self._film_ms = self._length(run)
        self._is_single = False
        self._scenes = scenes.scenes(message.tape)
        self.film.stop()
        clock = QElapsedTimer()
        clock.start()
        self._show()
        if run.running and not self._film_ms:
            self._pace.start(max(REST_MS, SHARE * clock.elapsed()))

    def _length(self, run: RunState) -> int:
        """Return how long the film of the tape that has come may take; 0 for a still picture."""
        if run.happened or not (run.running or (self._is_single and self._is_made(run))):
            return 0
        if run.running and _plays_every_step(run):
            return round(1000 * STEP_SHARE / _rate(run))
        return FILM_MS

    def _show(self) -> None:
        message = self._message
        if message is None:
            return
        at = self.position
        self._scene = self._scenes[scenes.scene_index_at(self._scenes, at)]
        self._turn += 1
        self.scenery.forget()
        opened = self._open_calls if self._open_calls is not None else self._legible
        self.scenery.request(message.tape, self._scene, opened, self._turn, at)

    def _show_picture(self, stage: Stage) -> None:
        message = self._message
        if message is None:
            return
        if self._open_calls is None and not self._is_legible:
            outer = self._view.legible_calls(stage)
            if outer is not None:
                self._legible = outer
                self._show()
                return
            self._is_legible = True
        self._picture = stage.picture
        self._view.graph.set_stage(stage, by_hand=self._open_calls is not None)
        length, self._film_ms = self._film_ms, 0
        if length:
            self.film.play(message.tape, length)
        else:
            self._update_look(0)

    def _move(self, position: int, ms: int) -> None:
        """Show a position of the film, in another scene if it is there."""
        if self._scenes[scenes.scene_index_at(self._scenes, position)] != self._scene:
            self._show()
        else:
            self._update_look(ms)

    def _rest(self) -> None:
        """Show the end of a step for a while before the next is requested."""
        run = self._session.run
        if run is not None and run.running and not _plays_every_step(run):
            self._pace.start(REST_MS)
        else:
            self._ask()

    def _update_look(self, glide_ms: int) -> None:
        message, picture = self._message, self._picture
        if message is None or picture is None or self.scenery.busy:
            return
        shown = look.look_at(message.tape, picture, self._scene, self.position)
        self._view.graph.set_look(shown, glide_ms)
        self._update_caption()

    @property
    def position(self) -> int:
        """Return the position on the tape: the film's, the run's inside a step, or the end."""
        message, run = self._message, self._session.run
        if message is None:
            return 0
        if self._film_ms:
            return 0
        if self.film.plays:
            return self.film.position
        done = len(run.happened) if run is not None and self._is_next(run) else 0
        texts = [text for _, text in run.begun.lines] if run is not None and run.begun else []
        return position_after(message.tape, texts, done) if done else len(message.tape.events)

    def _on_event(self, happened: EventDone | None) -> None:
        run = self._session.run
        if run is None or not self._seen:
            return
        self.film.stop()
        ahead, self._is_walked = self._ahead, happened is not None
        self._forget_requests()
        if happened is None:
            self._ask()
        elif self._is_next(run):
            self._update_look(GLIDE_MS)
        elif ahead is not None and ahead.step == run.step:
            self._present(run, ahead)

    def _toggle(self, key: str) -> None:
        """Open a folded module or fold an open one."""
        if self._picture is not None:
            now = {frame.key for frame in self._picture.frames}
            self._open_calls = frozenset(now ^ {key})
            self._show()

    def _fold_again(self) -> None:
        """Fold for another size of the view, unless the user has chosen."""
        if self._open_calls is None and self._message is not None:
            self._legible, self._is_legible = None, False
            self._show()

    def _update_caption(self) -> None:
        message, run = self._message, self._session.run
        if message is None or run is None:
            return
        runs_on = self._seen and run.running and not _plays_every_step(run)
        self.played.emit(message.step + 1 if runs_on else None)
        done, lines = len(run.happened), run.begun.lines if run.begun is not None else ()
        words = tr("step {value:,}", value=message.step + 1)
        if done and self._is_next(run) and done <= len(lines):
            words += f" · {lines[done - 1][1].splitlines()[0]}"
        elif not run.running and self._is_next(run):
            words += tr(", before it is made · Next line steps through it")
        elif self._gap > 1 and runs_on:
            words += tr(" · about 1 step in {gap:,} is played", gap=self._gap)
        self._view.set_caption(words)


def _rate(run: RunState) -> float:
    """Return the steps per second; 0 if unknown."""
    return run.state.rate if run.state is not None else 0.0


def _plays_every_step(run: RunState) -> bool:
    return 0 < _rate(run) <= EVERY_STEP_RATE
