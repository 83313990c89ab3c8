"""User actions on runs: change the setup, continue, rewind, fork."""

import math
from collections.abc import Callable, Sequence
from typing import get_args

from PySide6.QtCore import QObject, Signal

from gradscribe.app.document.state import Doc
from gradscribe.app.training.session.reducer import copy_curves_to_fork
from gradscribe.app.training.session.run_store import LEAST_LOSSES_KEPT, RunStore
from gradscribe.app.training.session.setup_history import (
    ForgottenRun,
    Undoable,
    WeightChange,
)
from gradscribe.app.training.session.state import (
    FIRST_RATE,
    UNTIL_SOLVED,
    RunState,
    TrainEngine,
    reply_timeout_ms,
)
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import JsonValue, Setup
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.training.requests import ExportKind
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.single_shot import single_shot

REST_MS = 60
"""Least time between two setups sent while a slider is dragged."""
MOST_ALIVE = 8
"""Runs that the engine has at once; of more, it drops the oldest."""
UNLIMITED_FROM = 4000.0
"""Steps per second from which on the speed is unlimited."""


class TrainController(QObject):
    """Turns what the user does into changes of the store and requests to the engine."""

    weight_edited = Signal()
    """A weight was edited."""
    woken = Signal(int)
    """Carries a dormant run that is to go on; whoever has its state sends it to the engine."""
    forgotten = Signal(str)
    """Carries the name of a run that was forgotten and can be brought back."""

    def __init__(self, store: RunStore, link: TrainEngine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.until: tuple[messages.StopCondition, ...] = ()
        self.source = ""
        """The user's program, for a model that is the user's own module."""
        self.foreign = False
        """True if the program came from elsewhere."""
        self.exports: set[tuple[int, str]] = set()
        """(run, kind) of the exports that were requested and have not arrived."""
        self._store, self._link = store, link
        self._plays = False
        self._is_dragging = False
        self._wishes: tuple[messages.ViewRequest, ...] = ()
        self._rest = single_shot(self, self._send_setup, REST_MS)
        self._patience = single_shot(self, lambda: link.kill(tr("a step did not end")))

    @property
    def plays(self) -> bool:
        """True while the run trains, or will train as soon as it has begun."""
        run = self._store.run
        return self._plays and (run is None or run.alive)

    def set_program(self, doc: Doc) -> None:
        """Note the program's Python, and its text for a user's module, once it may run."""
        self._link.interpreter = doc.interpreter
        self.source, self.foreign = doc.source if doc.may_run else "", doc.foreign

    def take_over(
        self,
        setup: Setup,
        runs: Sequence[RunState],
        current: int,
        hidden: frozenset[int],
        *,
        is_new_engine: bool = False,
    ) -> None:
        """Replace all runs by others, paused; ``is_new_engine``: the engine has those alone."""
        self._plays = self._is_dragging = False
        self._rest.stop()
        self._link.renew()
        self._ask_catalogue()
        self._store.set_error("", "")
        for run in (*self._store.runs, *self._store.drop_forgotten(0)):
            if not is_new_engine:
                self._drop_in_engine(run)
        self._store.take_over(setup, runs, current, hidden)

    # The setup

    def open(self) -> None:
        """Begin the first run and train it, slowly enough to watch, until it is solved."""
        if not self._store.runs:
            self.set_rate(FIRST_RATE)
            self.until = UNTIL_SOLVED
            self.begin(play=True)

    def change(self, setup: Setup) -> None:
        """Continue with another setup; undoable."""
        if setup != self._store.setup:
            # A drag is a single change: undo restores the setup before it.
            self._store.history.push(self._store.setup, merge=self._is_dragging)
            self._is_dragging = True
            self._set_setup(setup)

    def undo(self) -> None:
        """Undo the last change of the setup or of a weight."""
        self._restore(self._store.history.undo(self._store.setup))

    def redo(self) -> None:
        """Redo the last change that was undone."""
        self._restore(self._store.history.redo(self._store.setup))

    def _restore(self, change: Undoable | None) -> None:
        self._is_dragging = False
        match change:
            case WeightChange():
                self._send_weight(change.run_id, change.name, change.index, change.after)
            case ForgottenRun(run_id):
                self._switch_forgotten(run_id)
            case Setup():
                self._set_setup(change)

    def _send_weight(self, run_id: int, name: str, index: int, value: float) -> None:
        run = self._store.find(run_id)
        if run is not None:
            run.edited = f"{name}[{index}] {value:g}"
            run.add_flag(run.position, run.edited)
        self._link.send(messages.EditWeight(run_id, name, index, value))
        self.weight_edited.emit()

    def _set_setup(self, setup: Setup) -> None:
        self._store.set_setup(setup)
        if not self._rest.isActive():
            self._rest.start()

    def _send_setup(self) -> None:
        self._rest.stop()
        self._is_dragging = False
        run, setup = self._store.run, self._store.setup
        if run is None or not run.alive or (run.begun is None and run.branch is None):
            self.begin(play=self._plays)
        elif run.setup.mistakes != setup.mistakes:
            # From step 0, so that both runs have the same weights and data.
            self.begin(play=True)
        elif not has_same_step(run.expected_setup, setup):
            self._store.set_error("", "")
            self._fork_step(run, setup)
        elif setup != run.expected_setup:
            self._store.set_error("", "")
            run = self._fork_if_back(run)
            base = run.expected_setup
            run.sent.append(setup)
            self._link.send(messages.ChangeSetup(run.run_id, setup, base=base))
        else:
            self._store.set_error("", "")

    def _flush(self) -> None:
        """Send an edited setup now, so that it is handled before what is requested next."""
        if self._rest.isActive():
            self._send_setup()

    def reread(self) -> None:
        """Restart with the current contents of the file; if refused, the run is unchanged."""
        run, setup = self._store.run, self._store.setup
        if run is None or not run.alive or run.begun is None:
            self.begin(play=self._plays)
        else:
            self._rest.stop()
            run.sent.append(setup)
            self._link.send(messages.ChangeSetup(run.run_id, setup, reread=True))

    def edit_weight(self, name: str, index: int, value: float) -> None:
        """Set one element of a parameter; undoable until the run is rewound or restarted."""
        self._flush()
        run = self._store.run
        if run is not None and run.alive:
            before = last_shown_weight(run, name, index)
            run = self._fork_if_back(run)
            if before is not None:
                change = WeightChange(run.run_id, name, index, before, value)
                self._store.history.push(change)
                self._is_dragging = False
            self._send_weight(run.run_id, name, index, value)

    # Begin, continue, pause

    def begin(self, play: bool = False, keep: bool = False) -> None:
        """Begin a run of the current setup; the run before keeps its curves.

        ``keep``: however short they are.
        """
        store = self._store
        self._rest.stop()
        self._is_dragging = False
        if store.run is not None:
            self._end_run(store.run, keep)
        self._link.renew()
        self._make_space()
        run = store.add_run(store.setup)
        self._plays = play
        store.look = replace(store.look, run_id=run.run_id)
        self._ask_catalogue()
        self._send_train(run)
        self._begin_correct_run(run)
        store.runs_changed.emit()

    def _begin_correct_run(self, run: RunState) -> None:
        """Begin the correct run in parallel with a run that makes mistakes."""
        store = self._store
        before, store.right_id = store.find(store.right_id), 0
        if before is not None:
            self._end_run(before)
        if run.setup.deviates:
            # Only these two are to be compared.
            others = frozenset(other.run_id for other in store.runs if other is not run)
            store.look = replace(store.look, hidden=others)
            right = store.add_run(run.setup.corrected())
            store.right_id = right.run_id
            self._send_train(right)
            self._link.send(messages.PairRuns(run.run_id, right.run_id))

    def pair(self, right_id: int) -> None:
        """Let the correct run ``right_id`` make the steps of the current run, which errs.

        For two runs that the engine has again: it pairs them only once. Ignored if one is gone.
        """
        run, right = self._store.run, self._store.find(right_id)
        if run is None or right is None or right is run:
            return
        if run.setup.deviates and run.alive and right.alive:
            self._store.right_id = right_id
            self._link.send(messages.PairRuns(run.run_id, right_id))

    def _send_train(self, run: RunState) -> None:
        # A module from a program that came from elsewhere runs under the policy.
        policy = self.foreign and not run.setup.model.options.get("source")
        self._link.send(messages.Train(run.run_id, run.setup, source=self.source, policy=policy))

    def _ask_catalogue(self) -> None:
        if self._store.catalogue is None:
            self._link.send(messages.ListCatalogue(0))

    def _end_run(self, run: RunState, keep: bool = False) -> None:
        """End a run, and retain its curves if they are long enough or ``keep`` is true."""
        if run.alive:
            self._link.send(messages.DropRun(run.run_id))
            run.alive = False
        self._store.retire(run, keep)

    def play(self, until: Sequence[messages.StopCondition] = ()) -> None:
        """Train on until a condition of ``until`` pauses the run."""
        self.until = tuple(until)
        self._flush()
        run = self._store.run
        if run is None or not run.alive:
            self.begin(play=True)
            return
        self._plays = True
        if run.changes_until(math.inf):
            run = self._fork_if_back(run)
        self._send_play(run)
        self._store.state_changed.emit(run)

    def _send_play(self, run: RunState) -> None:
        self._link.send(messages.Play(run.run_id, self._store.look.rate, self.until))

    def pause(self) -> None:
        """Pause after the current step."""
        self._flush()
        self._plays = False
        run = self._store.run
        if run is not None and run.alive:
            self._link.send(messages.Pause(run.run_id))
            self._await_reply(run)
            self._store.state_changed.emit(run)

    def toggle(self) -> None:
        """Train if paused, else pause."""
        if self.plays:
            self.pause()
        else:
            self.play()

    def set_rate(self, rate: float) -> None:
        """Limit the steps per second; 0 is unlimited."""
        store = self._store
        if rate != store.look.rate:
            store.look = replace(store.look, rate=rate)
            store.rate_changed.emit(rate)
            run = store.run
            if self._plays and run is not None and run.alive:
                self._send_play(run)

    def change_speed(self, factor: float) -> None:
        """Multiply the speed by ``factor``; an unlimited speed can only be reduced."""
        rate = self._store.look.rate or (UNLIMITED_FROM if factor < 1 else 0.0)
        faster = rate * factor
        self.set_rate(0.0 if faster >= UNLIMITED_FROM else max(1.0, faster))

    # Steps

    def advance(self, steps: int = 1) -> None:
        """Make ``steps`` steps and pause."""
        self._ask(lambda run: messages.Advance(run.run_id, steps), steps)

    def next_event(self) -> None:
        """Execute the next line of the step."""
        self._ask(lambda run: messages.StepEvent(run.run_id), 1)

    def rewind(self, step: int) -> None:
        """Restore an earlier step with its complete state, or advance to a later one.

        Later steps that were made before the run went back are restored too.
        """
        self._flush()
        run = self._store.run
        if run is None:
            return
        at = run.position
        if step > run.last_known and not run.has_later_steps:
            self.advance(step - at)
        elif step != at or run.happened:
            self._ask(lambda run: _rewind(run, step))

    def retrain(self, step: int) -> None:
        """Go back to a step and train on from there."""
        self.rewind(step)
        self.play()

    def back(self) -> None:
        """Go one step back."""
        self.leap_back(1)

    def leap_back(self, steps: int) -> None:
        """Go ``steps`` steps back, from where a pending rewind leads if there is one."""
        if (run := self._store.run) is not None:
            self.rewind(max(0, run.position - steps))

    def go_to_furthest(self) -> None:
        """Advance to the furthest step that was reached."""
        if (run := self._store.run) is not None:
            self.rewind(max(run.furthest, run.last_known))

    def reset(self, weights: bool = False, data: bool = False) -> None:
        """Go back to step 0 with the same weights and data, or with new weights or data."""
        self._flush()
        if (run := self._store.run) is None or not run.alive:
            self.begin()
        else:
            self._link.send(messages.ResetRun(run.run_id, weights, data))

    def _ask(self, message: Callable[[RunState], messages.TrainRequest], steps: int = 0) -> None:
        """Stop playing and send the request that ``message`` returns for the run.

        ``steps``: how many steps it makes.
        """
        self._flush()
        run = self._store.run
        self._plays = False
        if run is None or not run.alive:
            self.begin()
        else:
            if run.changes_until(run.position + steps):
                run = self._fork_if_back(run)
            self._link.send(message(run))
            self._await_reply(run)

    def _await_reply(self, run: RunState) -> None:
        """Give the engine time to reply; before the run has begun it may still have to start."""
        if run.begun is not None:
            self._patience.start(reply_timeout_ms(run))

    # Several runs

    def fork(self) -> None:
        """Fork the run at this step; the source run stays."""
        self._flush()
        source = self._store.run
        if source is None or not source.alive:
            return
        if source.begun is None and source.branch is None:
            return  # There is no step yet to fork from.
        self.pause()
        self._fork(source)

    def _fork_if_back(self, run: RunState) -> RunState:
        """Fork a run that went back, before it takes another way; return the one to go on with.

        The later steps stay with the run that was left.
        """
        if not run.has_later_steps:
            return run
        if self._plays or run.running:
            self._link.send(messages.Pause(run.run_id))
        source = self._store.find(run.branch[0]) if run.branch is not None else None
        if run.made_itself and not run.has_own_steps and source is not None and source.alive:
            # It went further back before it took a step: nothing of it would be missed.
            fork = self._fork(source, run.position)
            self._store.runs.remove(run)
            self._link.send(messages.DropRun(run.run_id))
            self._store.runs_changed.emit()
        else:
            fork = self._fork(run)
        fork.made_itself = True
        return fork

    def _fork(self, source: RunState, step: int | None = None) -> RunState:
        """Fork a run at ``step``, None for where it stands, and continue with the fork."""
        store, had_later = self._store, source.has_later_steps and step is None
        is_moving = source.running and source.aim is None and step is None
        at = source.position if step is None else step
        run = self._add_fork(source, at, is_moving)
        right = store.find(store.right_id)
        if right is not None and had_later and source.setup.deviates:
            # Forked before its later steps come back, at the step of the other.
            also = self._add_fork(right, at, is_moving)
            store.right_id = also.run_id
            store.look = replace(store.look, hidden=store.look.hidden | {right.run_id})
            self._link.send(messages.PairRuns(run.run_id, also.run_id))
        store.look = replace(store.look, run_id=run.run_id)
        if had_later:
            source.aim_at(source.last_known)
            self._link.send(messages.Rewind(source.run_id, None))
        store.runs_changed.emit()
        return run

    def _fork_step(self, run: RunState, setup: Setup) -> None:
        """Fork the run of the usual step into a run whose step is changed, and train both.

        Several changes in a row fork at the same step, and the usual step goes on where it was.
        """
        store, source = self._store, self._store.right_run_of(run)
        usual = source.expected_setup
        if replace(usual, order=setup.order, manual_update=setup.manual_update) != setup:
            # Something else was changed together with the step.
            self.begin(play=True)
            return
        step = run.position if source is run or run.branch is None else run.branch[1]
        for each in (run, source):
            if self._plays or each.running:
                self._link.send(messages.Pause(each.run_id))
        if not setup.deviates:
            self.select(source.run_id)
            self._leave_short(run)
            return
        # A goal that the usual step has reached would stop the other at once.
        self._plays, self.until = True, ()
        if source is not run:
            self._leave_short(run)
        fork = self._new_fork(source, step, setup)
        compared = {other.run_id for other in store.runs if store.right_run_of(other) is source}
        hidden = frozenset(other.run_id for other in store.runs) - compared
        store.look = replace(store.look, run_id=fork.run_id, hidden=hidden)
        store.right_id = source.run_id
        self._link.send(messages.Fork(fork.run_id, source.run_id, step, setup))
        self._link.send(messages.PairRuns(fork.run_id, source.run_id))
        store.runs_changed.emit()

    def _leave_short(self, run: RunState) -> None:
        """Drop a fork that was left after too few steps to compare."""
        if run.step - (run.branch or (0, 0))[1] < LEAST_LOSSES_KEPT and run in self._store.runs:
            self._store.runs.remove(run)
            self._drop_in_engine(run)

    def on_fork_refused(self, run: RunState) -> None:
        """Return to the source of a fork whose setup the engine has refused."""
        store = self._store
        source = store.find(run.branch[0]) if run.branch is not None else None
        if source is None or run.run_id != store.look.run_id:
            return
        self._plays, store.right_id = False, 0
        store.runs.remove(run)
        store.look = replace(store.look, run_id=source.run_id)
        store.begun.emit(source)
        store.runs_changed.emit()

    def _add_fork(self, source: RunState, step: int, is_moving: bool) -> RunState:
        """Add a fork at ``step``; of a run that ``is_moving``, at where the engine stops it."""
        run, at = self._new_fork(source, step), None if is_moving else step
        self._link.send(messages.Fork(run.run_id, source.run_id, at, None))
        return run

    def _new_fork(self, source: RunState, step: int, setup: Setup | None = None) -> RunState:
        """Add a fork that the engine is to make; ``setup``: None for the settings of that step."""
        store = self._store
        self._make_space()
        run = store.add_run(setup or source.setup)
        run.stood = run.furthest = step
        run.branch = source.run_id, step
        run.origin, run.follows_source = source.setup_ahead or source.setup, setup is None
        copy_curves_to_fork(run, source, step)
        run.name = store.name_of(run)
        return run

    def _make_space(self) -> None:
        """Let forgotten runs go, so that the engine drops none that is listed for a new run."""
        alive = sum(run.alive for run in self._store.runs)
        for gone in self._store.drop_forgotten(max(0, MOST_ALIVE - 1 - alive)):
            self._drop_in_engine(gone)

    def select(self, run_id: int) -> None:
        """Make another run the current one; of a run whose engine is gone only take its setup."""
        store, run = self._store, self._store.find(run_id)
        if run is None or run_id == store.look.run_id:
            return
        self._flush()
        if run.is_dormant:
            self.woken.emit(run_id)
        if not run.alive:
            self._is_dragging = False
            self.change(run.setup)
            return
        if self._plays:
            self.pause()
        store.look = replace(store.look, run_id=run_id)
        store.set_setup(run.expected_setup)
        self.send_wishes()
        store.begun.emit(run)
        store.runs_changed.emit()

    def drop(self, run_id: int) -> None:
        """Forget a run that is not the current one; undoable."""
        run = self._store.find(run_id)
        if run is not None and run_id != self._store.look.run_id:
            self._is_dragging = False
            for gone in self._store.forget(run):
                self._drop_in_engine(gone)
            self._store.runs_changed.emit()
            self.forgotten.emit(run.name)

    def _switch_forgotten(self, run_id: int) -> None:
        """Bring a forgotten run back, or forget one that was brought back."""
        store = self._store
        run = store.bring_back(run_id)
        again = store.find(run_id) if run is None and run_id != store.look.run_id else None
        if again is not None:
            store.set_aside(again)
        store.runs_changed.emit()

    def _drop_in_engine(self, run: RunState) -> None:
        if run.alive:
            self._link.send(messages.DropRun(run.run_id))

    # Views, tapes, files, exports

    def watch(self, wishes: Sequence[messages.ViewRequest]) -> None:
        """Request these views from now on."""
        if tuple(wishes) != self._wishes:
            self._wishes = tuple(wishes)
            self.send_wishes()

    def send_wishes(self) -> None:
        """Request the views of the current run, if it has begun."""
        run = self._store.run
        if run is not None and run.alive and run.begun is not None:
            self._link.send(messages.WatchViews(run.run_id, self._wishes))

    def ask_tape(self, live: bool = False, step: int | None = None) -> None:
        """Request the tape of the step after ``step``: for `taped`, or for `drawn` if ``live``."""
        if not live:
            self._flush()
        run = self._store.run
        if run is not None and run.alive:
            self._link.send(messages.RecordStep(run.run_id, step, live))

    def look_into(
        self,
        path: str,
        header: bool | None = None,
        options: dict[str, JsonValue] | None = None,
    ) -> None:
        """Request a preview of a table's file; `looked` carries it. The rest: of `InspectFile`."""
        run_id = self._store.look.run_id
        self._link.send(messages.InspectFile(run_id, path, header, options or {}))

    def stop_reading(self) -> None:
        """Stop reading the data file that is being read."""
        self._link.stop_reading()

    def export(self, kind: str) -> None:
        """Request the bytes of an export; `exported` carries them."""
        self._flush()
        run = self._store.run
        if run is not None and run.alive and kind in get_args(ExportKind):
            self.exports.add((run.run_id, kind))
            self._link.send(messages.Export(run.run_id, kind))  # type: ignore[arg-type]

    # Replies of the engine

    def on_started(self, run: RunState) -> None:
        """Train a run that has begun, if it is to train."""
        if self._plays and run.run_id == self._store.look.run_id:
            self._send_play(run)

    def on_reply(self) -> None:
        """Note that the engine replies."""
        self._patience.stop()

    def on_going_on(self) -> None:
        """Note that the current run trains already."""
        self._plays = True

    def on_stopped(self) -> None:
        """Note that the current run does not train any more."""
        self._plays = False

    def close(self) -> None:
        """Send nothing more by itself."""
        self._rest.stop()
        self._patience.stop()


def has_same_step(a: Setup, b: Setup) -> bool:
    """Return whether two setups have the same statements in a step, apart from mistakes."""
    return (a.order, a.manual_update) == (b.order, b.manual_update)


def _rewind(run: RunState, step: int) -> messages.Rewind:
    run.aim_at(step)
    return messages.Rewind(run.run_id, step)


def last_shown_weight(run: RunState, name: str, index: int) -> float | None:
    """Return the last shown value of a parameter's element; None if unknown."""
    view = run.views.get("weights")
    if run.begun is None or view is None or "flat" not in view.arrays:
        return None
    flat = view.arrays["flat"].array()
    at = next((p.start for p in run.begun.parameters if p.name == name), None)
    return float(flat[at + index]) if at is not None and at + index < len(flat) else None
