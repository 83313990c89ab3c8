"""User actions on runs: change the setup, continue, rewind, fork."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject

from gradscribe.app.training.session.reducer import copy_curves_to_fork
from gradscribe.app.training.session.runs import Runs
from gradscribe.app.training.session.state import (
    RunState,
    TrainEngine,
    fork_name,
    reply_timeout_ms,
    unique_name,
)
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.protocol.structs import replace
from gradscribe.widgets.base.single_shot import single_shot

REST_MS = 60
"""Least time between two setups sent while a slider is dragged."""
UNLIMITED_FROM = 4000.0
"""Steps per second from which on the speed is unlimited."""


class RunControls(Runs):
    """The runs, and every request about them that is sent to the engine."""

    def __init__(self, link: TrainEngine, parent: QObject | None = None) -> None:
        super().__init__(link, parent)
        self._plays = False
        self.until: tuple[messages.StopCondition, ...] = ()
        self._wishes: tuple[messages.ViewRequest, ...] = ()
        self._rest = single_shot(self, self._send_setup, REST_MS)
        self._patience = single_shot(self, self._lose_patience)

    @property
    def plays(self) -> bool:
        """True while the run trains, or will train as soon as it has begun."""
        return self._plays and (self.run is None or self.run.alive)

    def take_over(
        self, setup: Setup, runs: Sequence[RunState], current: int, hidden: frozenset[int]
    ) -> None:
        """Replace all runs by others, paused."""
        self._plays = False
        self._rest.stop()
        if self.catalogue is None:
            self._link.send(messages.ListCatalogue(0))
        self.error_changed.emit("", "")
        super().take_over(setup, runs, current, hidden)

    # The setup

    def open(self) -> None:
        """Begin the first run and train it."""
        if not self.runs:
            self.begin(play=True)

    def change(self, setup: Setup) -> None:
        """Continue with another setup; undoable."""
        if setup == self.setup:
            return
        # A drag is a single change: undo restores the setup before it.
        self._remember(merge=self._is_dragging)
        self._is_dragging = True
        self._set_setup(setup)

    def _set_setup(self, setup: Setup) -> None:
        super()._set_setup(setup)
        if not self._rest.isActive():
            self._rest.start()

    def _send_setup(self) -> None:
        self._is_dragging = False
        run = self.run
        if run is None or not run.alive or (run.begun is None and run.branch is None):
            self.begin(play=self._plays)
        elif run.setup.mistakes != self.setup.mistakes:
            # From step 0, so that both runs have the same weights and data.
            self.begin(play=True)
        else:
            self.error_changed.emit("", "")
            self._link.send(messages.ChangeSetup(run.run_id, self.setup))

    def reread(self) -> None:
        """Restart with the current contents of the file; if refused, the run is unchanged."""
        run = self.run
        if run is None or not run.alive or run.begun is None:
            self.begin(play=self._plays)
        else:
            self._link.send(messages.ChangeSetup(run.run_id, self.setup, reread=True))

    # Driving

    def begin(self, play: bool = False, keep: bool = False) -> None:
        """Begin a run of the current setup; the run before keeps its curves.

        ``keep``: however short they are.
        """
        self._rest.stop()
        self._is_dragging = False
        if self.run is not None:
            self._end_run(self.run, keep)
        run = RunState(self._link.next_id(), self.setup, "", self._next_color())
        run.name = self._name_of(run)
        self.runs.append(run)
        self._plays = play
        self.look = replace(self.look, run_id=run.run_id)
        if self.catalogue is None:
            self._link.send(messages.ListCatalogue(0))
        strange = self._is_strange(self.setup)
        self._link.send(messages.Train(run.run_id, self.setup, source=self.source, policy=strange))
        self._begin_correct_run(run)
        self.runs_changed.emit()

    def play(self, until: Sequence[messages.StopCondition] = ()) -> None:
        """Train on until a condition of ``until`` pauses the run."""
        self.until = tuple(until)
        run = self.run
        if run is None or not run.alive:
            self.begin(play=True)
            return
        self._plays = True
        self._link.send(messages.Play(run.run_id, self.look.rate, self.until))
        self.state_changed.emit(run)

    def pause(self) -> None:
        """Pause after the current step."""
        self._plays = False
        run = self.run
        if run is not None and run.alive:
            self._link.send(messages.Pause(run.run_id))
            if run.begun is not None:  # Else the engine may still have to start.
                self._patience.start(reply_timeout_ms(run))
            self.state_changed.emit(run)

    def toggle(self) -> None:
        """Train if paused, else pause."""
        if self.plays:
            self.pause()
        else:
            self.play()

    def advance(self, steps: int = 1) -> None:
        """Make ``steps`` steps and pause."""
        self._ask(lambda run: messages.Advance(run.run_id, steps))

    def next_event(self) -> None:
        """Execute the next line of the step."""
        self._ask(lambda run: messages.StepEvent(run.run_id))

    def rewind(self, step: int) -> None:
        """Restore an earlier step with its complete state, or advance to a later one."""
        run = self.run
        if run is not None and step > run.step:
            self.advance(step - run.step)
        elif run is not None and (step < run.step or run.happened):
            self._ask(lambda run: messages.Rewind(run.run_id, step))

    def back(self) -> None:
        """Go one step back."""
        if self.run is not None:
            self.rewind(max(0, self.run.step - 1))

    def go_to_furthest(self) -> None:
        """Advance to the furthest step that was reached."""
        if self.run is not None:
            self.rewind(self.run.furthest)

    def reset(self, weights: bool = False, data: bool = False) -> None:
        """Go back to step 0 with the same weights and data, or with new weights or data."""
        plays = self._plays
        if (run := self.run) is None or not run.alive:
            self.begin()
            return
        self._link.send(messages.ResetRun(run.run_id, weights, data))
        self._plays = plays

    def fork(self) -> None:
        """Fork the run at this step; the source run stays."""
        source = self.run
        if source is None or not source.alive:
            return
        if source.begun is None and source.branch is None:
            return  # There is no step yet to fork from.
        self.pause()
        run = RunState(self._link.next_id(), self.setup, "", self._next_color(), stood=source.step)
        run.name = unique_name(fork_name(source.name, source.step), self.runs)
        run.branch = (source.run_id, source.step)
        copy_curves_to_fork(run, source)
        self.runs.append(run)
        self.look = replace(self.look, run_id=run.run_id)
        self._link.send(messages.Fork(run.run_id, source.run_id, source.step, self.setup))
        self.runs_changed.emit()

    def set_rate(self, rate: float) -> None:
        """Limit the steps per second; 0 is unlimited."""
        if rate != self.look.rate:
            self.look = replace(self.look, rate=rate)
            run = self.run
            if self._plays and run is not None and run.alive:
                self._link.send(messages.Play(run.run_id, rate, self.until))

    def change_speed(self, factor: float) -> None:
        """Multiply the speed by ``factor``; an unlimited speed can only be reduced."""
        rate = self.look.rate or (UNLIMITED_FROM if factor < 1 else 0.0)
        faster = rate * factor
        self.set_rate(0.0 if faster >= UNLIMITED_FROM else max(1.0, faster))

    def watch(self, wishes: Sequence[messages.ViewRequest]) -> None:
        """Request these views from now on."""
        if tuple(wishes) != self._wishes:
            self._wishes = tuple(wishes)
            self._send_wishes()

    def _send_wishes(self) -> None:
        run = self.run
        if run is not None and run.alive and run.begun is not None:
            self._link.send(messages.WatchViews(run.run_id, self._wishes))

    def _ask(self, message: Callable[[RunState], messages.TrainRequest]) -> None:
        """Stop playing and send the request that ``message`` returns for the run."""
        run = self.run
        self._plays = False
        if run is None or not run.alive:
            self.begin()
        else:
            self._link.send(message(run))
            if run.begun is not None:
                self._patience.start(reply_timeout_ms(run))

    def select(self, run_id: int) -> None:
        """Make another run the current one; of a run whose engine is gone only take its setup."""
        run = self.find(run_id)
        if run is None or run_id == self.look.run_id:
            return
        if not run.alive:
            self._is_dragging = False
            self.change(run.setup)
            return
        if self._plays:
            self.pause()
        self.look = replace(self.look, run_id=run_id)
        self.setup = run.setup
        self.setup_changed.emit()
        self._send_wishes()
        self.begun.emit(run)
        self.runs_changed.emit()

    def _lose_patience(self) -> None:
        self._link.kill("a step did not end")

    def close(self) -> None:
        """End the engine."""
        for timer in (self._rest, self._patience):
            timer.stop()
        self._link.close()
