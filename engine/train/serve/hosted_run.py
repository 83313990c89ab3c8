"""A run on the training server: its playback, its views, and the replies about them."""

import math
import time
from collections.abc import Callable, Iterator
from typing import Literal

from gradscribe.engine.protocol.setup import Setup, SetupError
from gradscribe.engine.protocol.setup_changes import rebase
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Problem
from gradscribe.engine.protocol.training import TrainReply, requests
from gradscribe.engine.protocol.training.advice import RunAdvice
from gradscribe.engine.protocol.training.replies import (
    SERIES_STEPS,
    EventDone,
    RunSaved,
    SetupChanged,
    SetupRestored,
    StepTape,
    TrainState,
    ViewReply,
)
from gradscribe.engine.run.errors import USER_ERRORS
from gradscribe.engine.train import memory, views
from gradscribe.engine.train.advice.adviser import RunAdviser
from gradscribe.engine.train.memory import allocated_bytes, data_limit, resident_bytes
from gradscribe.engine.train.runs import measure, record_step, saved
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.runs.stop_conditions import StopConditions, solved_below
from gradscribe.engine.train.serve import paired_run, replies
from gradscribe.engine.train.source.changes import WeightEdit
from gradscribe.engine.train.source.program import ProgramError, fill_defaults
from gradscribe.engine.train.views.scheduler import BUDGET, ViewScheduler

UPDATE_S = 1 / 30
SLICE_S = 1 / 33
"""Length of a time slice of training: after each interruption the caches are cold."""
MEASURE_S = 0.2
"""Seconds between two measured steps (gradient norms and update ratios)."""
UPDATE_SHARE = {"reference": 0.01, "captured": 0.15}
"""Maximum share of the time for sending updates, including the measured step: if exceeded, updates
are sent less often than every `UPDATE_S`, but at least every `SLOWEST_UPDATE_S`."""
SLOWEST_UPDATE_S = 0.1
STEPS_AFTER_FAILURE = 300
"""Steps that the correct run of a pair makes on its own after the run with a mistake failed."""

LIVE_S = 0.5
"""Longest time for which steps are repeated for a tape that nobody asked for."""
MEMORY_EVERY_S = 0.25
MEMORY_GROWTH = 1 << 29
"""Maximum growth in bytes by graphs that the mistake ``keep_graphs`` retains, per play."""
MEMORY_SHARE = 0.8
"""Maximum share of the process's memory limit."""


class MemoryGuard:
    """Monitor of memory use by one run while it plays."""

    def __init__(self) -> None:
        self._began = 0
        self._next = 0.0

    def begin(self) -> None:
        """Measure growth from now on."""
        self._began = resident_bytes()

    def problem(self, run: TrainingRun, now: float) -> Problem | None:
        """Return why a run must pause, or None; ``now`` in seconds of any clock."""
        if now < self._next:
            return None
        self._next = now + MEMORY_EVERY_S
        cap = data_limit()
        grown = resident_bytes() - self._began
        full = cap and allocated_bytes() > MEMORY_SHARE * cap
        losses = run.program.names["kept"]
        if "keep_graphs" in run.setup.mistakes and isinstance(losses, list):
            if grown > min(MEMORY_GROWTH, cap // 4 or MEMORY_GROWTH) or full:
                return Problem(
                    "Memory",
                    f"Paused at step {run.step:,}: {len(losses):,} losses and their graphs hold "
                    f"{(len(losses) and grown) / 1e9:.1f} GB more memory",
                    "Keep loss.item() in place of the loss. Going back lets go of them.",
                )
        elif full:
            return Problem(
                "Memory",
                f"Paused at step {run.step:,}: {allocated_bytes() / 1e9:.1f} GB of memory are in "
                f"use, of {cap / 1e9:.1f} GB that there may be",
                "Something keeps what each step makes. Make a size smaller, or reset.",
            )
        return None


class HostedRun:
    """A run, its playback state, and what was last sent of it."""

    def __init__(
        self,
        run_id: int,
        run: TrainingRun,
        send: Callable[[TrainReply], None],
        wishes: tuple[requests.ViewRequest, ...] = (),
        parent: tuple[int, int] | None = None,
    ) -> None:
        self.run_id = run_id
        self.run = run
        self._send = send
        self._parent = parent
        self.paired_id: int | None = None
        """Id of the paired correct run."""
        self._memory = 0
        """Resident bytes of the process when the runs were paired."""
        self._settings = run.setup
        """The setup that was last sent."""
        self.playing = False
        self.problem: Problem | None = None
        self.reached = ""
        self._event = 0
        self._rate = 0.0
        self._until: tuple[requests.StopCondition, ...] = ()
        self._goal: int | None = None
        """The last step of an `Advance`."""
        self._conditions = StopConditions(())
        """Stop conditions other than a step."""
        self._guard = MemoryGuard()
        self._play_start = 0.0
        self._play_start_step = 0
        self._sent_at = 0.0
        self._next_send_at = 0.0
        """Time at which to send its curves next."""
        self.next_measure_at = 0.0
        self._step_s = math.inf
        """Seconds of the fastest measured step."""
        self.is_slow = False
        """True if a step takes longer than the maximum time between updates."""
        self.pace = ViewScheduler()
        """Schedule of the views."""
        self._seen: dict[str, int] = {}
        """The step of which each view was last computed."""
        self.adviser = RunAdviser()
        self.set_wishes(wishes)

    # Requests

    def start(self, resumed: bool) -> None:
        """Send the description, data, state and views of a new run."""
        self._send(replies.run_started(self.run_id, self.run, self._parent, resumed))
        self._send(replies.data_sample(self.run_id, self.run))
        self.report()

    def rejoin(self, step: int) -> None:
        """Send everything again to a window that has the curves up to ``step`` alone."""
        self.run.history.send_again_after(step)
        self.start(resumed=True)
        self._send(RunAdvice(self.run_id, self.adviser.given))

    def play(
        self,
        rate: float = 0.0,
        until: tuple[requests.StopCondition, ...] = (),
        steps: int | None = None,
    ) -> None:
        """Play at most ``rate`` steps a second (0: no limit), for ``steps`` steps if given."""
        self._rate, self._until = rate, until
        self._goal = None if steps is None else self.run.step + max(0, steps)
        self._set_playback(playing=True)
        self.run.problem = None
        self._play_start, self._play_start_step = time.perf_counter(), self.run.step
        self._guard.begin()
        is_open = any(condition.kind == "solved" for condition in until)
        solved = solved_below(self.run.program) if is_open else -math.inf
        self._conditions = StopConditions(until, self.run.history.recent, solved)

    def pause(self) -> None:
        """Pause and send everything new."""
        self.playing = False
        self.report()

    def _set_playback(self, playing: bool) -> None:
        self.playing = playing
        self.problem, self.reached, self._event = None, "", 0

    def step_event(self) -> None:
        """Execute the next event of a step."""
        self.playing, self.problem = False, None
        self.run.problem = None
        step = self.run.step
        try:
            made = self.run.next_event()
        except ProgramError as error:
            self.problem = error.problem
            self.report()
            return
        self._event = 0 if made.done else made.index + 1
        loss = made.loss if made.has_loss else None
        self._send(
            EventDone(self.run_id, step, made.index, made.event, made.changed, loss, made.done)
        )
        if made.done:
            self._check()
        self._report_changed()

    def change_setup(self, request: requests.ChangeSetup) -> "HostedRun | None":
        """Apply a setup from the next step on; return the run that starts anew if it has to."""
        asked, base = request.setup, request.base
        setup = asked if base is None else self._merged(base, asked)
        applied, anew = ((), ("data",)) if request.reread else self.run.change_setup(setup)
        if anew:
            # A file that changed meanwhile is read again only if the data settings changed.
            run = TrainingRun(setup, None if "data" in anew else self.run.program.files)
            self._send(SetupChanged(self.run_id, 0, applied, anew, setup=asked, base=base))
            return self._successor(run)
        self.problem, self.reached = None, ""
        self._settings = self.run.setup
        lines, names = tuple(self.run.program.lines), self.run.program.class_names
        self._send(SetupChanged(self.run_id, self.run.step, applied, (), lines, names, asked, base))
        self._seen.clear()
        self.adviser.forget()
        if not self.playing:
            self.report()
        return None

    def _merged(self, base: Setup, asked: Setup) -> Setup:
        """Return the setup asked for, with what the run has changed in ``base`` meanwhile."""
        try:
            filled = fill_defaults(base, self.run.program.task)
        except SetupError:
            return asked
        return rebase(rebase(base, filled, self.run.setup), base, asked)

    def reset(self, weights: bool, data: bool) -> "HostedRun | None":
        """Return to the first step; return the run that starts anew if the setup differs there."""
        run = self.run
        is_new = weights or data
        if not is_new and run.setup == run.checkpoints.before(0).setup:
            self.rewind(0)
            return None
        # Settings that were changed during the run now apply from the first step on.
        setup = replies.reseeded(run.setup, weights, data) if is_new else run.setup
        new_run = TrainingRun(setup, run.program.files)
        if not is_new:
            new_run.repeat_edits(run)
        return self._successor(new_run)

    def _successor(self, run: TrainingRun) -> "HostedRun":
        """Return the host of a run that takes the place of this one."""
        fresh = HostedRun(self.run_id, run, self._send, self.wishes)
        fresh.paired_id, fresh._memory = self.paired_id, self._memory
        return fresh

    def rewind(self, step: int | None) -> int:
        """Restore a known step, None for the last, and pause there.

        Returns how many steps are still to be made from there to ``step``.
        """
        step = self.run.last_step if step is None else step
        # Those made last stay known at the receiver too.
        self._send_curves()
        self.run.rewind(step)
        self._set_playback(playing=False)
        self._report_changed()
        return max(0, step - self.run.step)

    def edit(self, change: WeightEdit) -> None:
        """Set an element of a parameter."""
        self.run.edit(change)
        self.problem = None
        self._report_changed()

    def fork(self, run_id: int, step: int | None, setup: Setup | None) -> "HostedRun":
        """Return a new run in the state of this one at ``step``, or where it is."""
        run = self.run.fork(self.run.step if step is None else step, setup)
        return HostedRun(run_id, run, self._send, self.wishes, (self.run_id, run.step))

    def record(self, step: int | None, live: bool) -> None:
        """Send the tape of a step."""
        events = self.run.events
        done = events.index + 1 if events is not None and step in (None, self.run.step) else 0
        if live and events is not None:
            return
        if live and step is not None and self._repeating_s(step) > LIVE_S:
            step = None
        tape, source, at = record_step.record_step(self.run, step)
        self._send(StepTape(self.run_id, at, tape, source, live, done))

    def _repeating_s(self, step: int) -> float:
        """Return about how many seconds it takes to repeat the steps that lead to ``step``."""
        count = step - self.run.checkpoints.before(step).step
        if count and self._step_s == math.inf:
            # As of a run that was restored.
            self._step_s = record_step.step_seconds(self.run)
        return count * self._step_s if count else 0.0

    def save(self) -> None:
        """Send all curves of the run, then the run as bytes."""
        self.report()
        step = self.run.step
        try:
            reply = RunSaved(self.run_id, step, saved.save(self.run))
        except saved.SavedRunError as error:
            reply = RunSaved(self.run_id, step, problem=Problem("Session", str(error)))
        self._send(reply)

    # Steps

    def allowed_steps(self, now: float) -> int:
        """Return the number of steps allowed now by the goal and the maximum rate."""
        most = 1 << 30
        step = self.run.step
        if self._goal is not None:
            most = self._goal - step
        for until in self._until:
            if until.kind == "step":
                most = min(most, max(0, int(until.value) - step))
                if most == 0:
                    self.playing, self.reached = False, "step"
        if self._rate > 0:
            played = int((now - self._play_start) * self._rate)
            most = min(most, self._play_start_step + played + 1 - step)
        return most

    def wait(self, now: float) -> float:
        """Return the seconds until a step is allowed; pause without any that may follow."""
        if not self.playing or self._goal is not None:
            self.pause()
            return 0.0
        return max(0.0, min(UPDATE_S, self._sent_at + UPDATE_S - now))

    def advance(self, count: int, now: float) -> tuple[float, bool]:
        """Make up to ``count`` steps; return when updates began, and whether they are due."""
        # A slow step is measured on its own: an update is sent after each.
        alone = self.is_slow and now >= self.next_measure_at
        if count > 1 and not alone:
            measure.advance_measured(self.run, self._conditions, count - 1, now + SLICE_S)
        # All in one go: spread between steps, each of these would run with cold caches.
        begun = time.perf_counter()
        self.is_slow = alone or begun - now > SLOWEST_UPDATE_S
        due = (
            begun >= self._next_send_at - SLICE_S / 2
            or self.run.history.unsent_count() >= SERIES_STEPS // 2
        )
        measures = due and begun >= self.next_measure_at and not self.is_slow
        if not self._conditions.reached and (count == 1 or alone or measures):
            measured_at = time.perf_counter()
            noting = measure.measure_step(self.run, self._conditions)
            self._step_s = min(self._step_s, time.perf_counter() - measured_at)
            self.next_measure_at = begun + max(MEASURE_S, noting / UPDATE_SHARE["reference"])
        self._check()
        return begun, due

    def _check(self) -> None:
        """Pause if something went wrong or a stop condition holds."""
        run = self.run
        if run.problem is not None:
            self.playing = False
            self.problem = run.problem
            if run.problem.type == "NaN":
                self.problem = self._explain_nan()
                self.reached = "nan"
            return
        if self.playing and (full := self._guard.problem(run, time.perf_counter())):
            self.playing, self.problem, self.reached = False, full, "memory"
        if self._goal is not None and run.step >= self._goal:
            self.playing = False
        if self._conditions.reached:
            self.playing, self.reached = False, self._conditions.reached
        elif any(until.kind == "step" and run.step >= until.value for until in self._until):
            self.playing, self.reached = False, "step"

    def _explain_nan(self) -> Problem:
        """Return where the loss diverged; data that are not scaled are a likely reason."""
        problem = record_step.explain_nan(self.run)
        self.adviser.look_at_setup(self.run, diverged=True)
        unscaled = next((a for a in self.adviser.given if a.kind == "scaling"), None)
        if unscaled is None:
            return problem
        return replace(problem, hint=f"{unscaled.words}. {problem.hint}")

    # Updates

    def report(self) -> None:
        """Send everything that is new."""
        before, self._settings = self._settings, self.run.setup
        if before != self._settings:  # As after a rewind past a change.
            lines, names = tuple(self.run.program.lines), self.run.program.class_names
            self._send(
                SetupRestored(self.run_id, self.run.step, before, self._settings, lines, names)
            )
        self._send_curves()
        # Before the views, which may take a while: a request to pause waits for this reply.
        self._send_state()
        if not self.playing:
            self.adviser.look_at_progress(self.run)
        self._send_advice()
        self.send_views(at_once=True)

    def _send_advice(self) -> None:
        if (given := self.adviser.news()) is not None:
            self._send(RunAdvice(self.run_id, given))

    def _report_changed(self) -> None:
        """Send everything that is new after a change of the weights."""
        self._seen.clear()
        self.report()

    def report_slice(self, begun: float, due: bool, with_views: bool) -> None:
        """Send the updates after a slice, which began at ``begun``."""
        if not self.playing:
            self.report()
        elif due:
            self._send_curves()
            self._send_state()
            now = time.perf_counter()
            share = UPDATE_SHARE[self.run.mode]
            self._next_send_at = now + min(max(UPDATE_S, (now - begun) / share), SLOWEST_UPDATE_S)
            if self.adviser.is_due(self.run.step):
                self.adviser.look_at_progress(self.run)
                self._send_advice()
            if with_views:
                self.send_views(at_once=False)

    def _send_curves(self) -> None:
        self._sent_at = time.perf_counter()
        for part in replies.series(self.run_id, self.run.history):
            self._send(part)

    def _send_state(self) -> None:
        """Send the state at the time of the last curves."""
        run, rate = self.run, 0.0
        if self.playing and self._sent_at > self._play_start:
            rate = (run.step - self._play_start_step) / (self._sent_at - self._play_start)
        status: Literal["running", "paused", "failed"] = "running" if self.playing else "paused"
        if self.problem is not None and self.problem.type not in ("NaN", "Memory"):
            status = "failed"
        self._send(
            TrainState(
                self.run_id,
                status,
                run.step,
                run.epoch,
                rate,
                run.mode,
                run.why,
                event=self._event,
                problem=self.problem,
                reached=self.reached,
                checkpoints=len(run.checkpoints),
            )
        )

    # Views

    def watch(self, wishes: tuple[requests.ViewRequest, ...]) -> None:
        """Set the requested views and send each at once."""
        self.set_wishes(wishes)
        self.send_views(at_once=True)

    def set_wishes(self, wishes: tuple[requests.ViewRequest, ...]) -> None:
        """Set the requested views; each is due at once."""
        self.wishes = wishes
        self.pace.set_intervals({key: wish.every_ms / 1000 for key, wish in self.keyed_wishes()})
        self._seen.clear()

    def keyed_wishes(self) -> Iterator[tuple[str, requests.ViewRequest]]:
        """Yield the requested views, each with a unique key."""
        for number, wish in enumerate(self.wishes):
            yield (wish.kind if wish.kind == "beside" else f"{number}:{wish.kind}"), wish

    def send_views(self, at_once: bool) -> None:
        """Send the requested views that are due; with ``at_once`` all not yet sent for this step.

        Views for which the module raises are skipped.
        """
        for key, wish in self.keyed_wishes():
            now, step = time.perf_counter(), self.run.step
            if wish.kind == "beside" or self._seen.get(key) == step:
                continue
            if self.playing and views.is_only_paused(wish.kind):
                continue
            if not at_once and not self.pace.is_due(key, now):
                continue
            self._seen[key] = step
            try:
                picture = views.compute(self.run, wish.kind, wish.options)
            except USER_ERRORS:
                pass  # It may work with other weights.
            else:
                if picture is None:
                    self.pace.disable(key)
                    continue
                self._send(ViewReply(self.run_id, wish.kind, step, picture.arrays, picture.facts))
            self._record_cost(key, now, now)

    def _record_cost(self, key: str, begun: float, now: float) -> None:
        self.pace.record_cost(key, time.perf_counter() - begun, now, BUDGET[self.run.mode])

    # The paired run

    def pair(self, run_id: int) -> None:
        """Pair this run with a correct one."""
        self.paired_id, self._memory = run_id, memory.resident_bytes()

    def advance_paired(self, other: "HostedRun") -> None:
        """Advance the correct run to this step, past a failed one by `STEPS_AFTER_FAILURE` more."""
        failed = self.problem is not None and self.problem.type not in ("Setup", "Memory")
        goal = self.run.step + (STEPS_AFTER_FAILURE if failed else 0)
        with other.run.entered():
            if other.run.step < goal:
                other.run.advance(goal - other.run.step)
                other._check()
            if other._sent_at < self._sent_at or failed:
                other.report()
        self._compare(other)

    def _compare(self, other: "HostedRun") -> None:
        """Send how the two runs differ."""
        now, steps = time.perf_counter(), self.run.step + other.run.step
        wanted = any(wish.kind == "beside" for wish in self.wishes)
        waits = self.playing and not self.pace.is_due("beside", now)
        if not wanted or waits or self._seen.get("beside") == steps:
            return
        self._seen["beside"] = steps
        facts = paired_run.comparison_facts(self.run, other.run, self._memory)
        self._record_cost("beside", now, time.perf_counter())
        self._send(ViewReply(self.run_id, "beside", self.run.step, {}, facts))
