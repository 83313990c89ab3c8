"""Training server: handles requests, advances runs in time slices, sends their results."""

import time
from collections.abc import Callable

from engine import asynchronous
from engine.errors import RAISES, message_of, name_of
from engine.plausible import shortened
from engine.setup import MISTAKES, BadSetup, Setup
from engine.tape import Problem
from engine.train import beside, catalogue, files, measuring, memory, recorded, saved, telling
from engine.train.changing import Edit
from engine.train.goals import Goals
from engine.train.held import Held
from engine.train.painter import NoPainter, Painter
from engine.train.program import Failed
from engine.train.run import Run
from engine.train.samples import samples
from engine.training import TrainReply, TrainRequest, answers, asks
from engine.zoo import given
from engine.zoo.models import own

TELL_S = 1 / 30
SLICE_S = 1 / 33
"""Length of a time slice of training: after each interruption the caches are cold."""
MEASURE_S = 0.2
"""Seconds between two measured steps (gradient norms and update ratios)."""
TELL_SHARE = {"reference": 0.01, "captured": 0.15}
"""Maximum share of the time for sending updates, including the measured step: if exceeded, updates
are sent less often than every `TELL_S`, but at least every `SLOWEST_S`."""
SLOWEST_S = 0.1
MOST_RUNS = 8
ALONE = 300
"""Steps that the correct run of a pair makes on its own after the run with a mistake failed."""


class Host:
    """All runs of an engine."""

    def __init__(self, send: Callable[[TrainReply], None], painter: Painter | None = None) -> None:
        self._send: Callable[[TrainReply], None] = lambda reply: send(shortened(reply))
        self._painter = painter or NoPainter()
        self._runs: dict[int, Held] = {}
        self._active: int | None = None

    # Taking requests

    def take(self, request: TrainRequest) -> None:
        """Handle a request; errors are sent to the window as `TrainProblem`."""
        try:
            self._take(request)
        except BadSetup as error:
            self._refuse(request.run_id, Problem("Setup", str(error)), error.place)
        except Failed as error:
            self._refuse(request.run_id, error.problem, error.place)
        except MemoryError:
            self._refuse(request.run_id, Problem("MemoryError", "Not enough memory for this"))
        except RAISES as error:
            if asynchronous.lost():
                raise
            message = message_of(error).partition("\n")[0]
            self._refuse(request.run_id, Problem(name_of(type(error)), message))

    def _refuse(self, run_id: int, problem: Problem, place: str = "") -> None:
        self._send(answers.TrainProblem(run_id, problem, place))

    def _take(self, request: TrainRequest) -> None:
        self._painter.heed(request)
        match request:
            case asks.ListParts(run_id):
                contents = (catalogue.entries(), dict(MISTAKES), samples())
                self._send(answers.Catalogue(run_id, *contents))
            case asks.Train():
                self._start(request)
            case asks.GiveFile(_, path, data, problem, sample):
                given.give(path, data, problem, sample)
            case asks.LookIntoFile(run_id, path, header):
                self._send(files.look(run_id, path, header))
            case asks.Fork():
                self._fork(request)
            case asks.Resume(run_id, data, parent, policy=policy):
                again = Held(saved.resume(data, policy), parent=parent)
                self._register(run_id, again, resumed=True)
            case asks.Drop(run_id):
                self._runs.pop(run_id, None)
            case _:
                hosted = self._runs.get(request.run_id)
                if hosted is None:
                    self._send(answers.TrainState(request.run_id, "gone", 0))
                    return
                hosted.run.enter()
                try:
                    self._handle(request, hosted)
                finally:
                    hosted.run.leave()
                self._repeat_on_paired(request, self._runs.get(request.run_id))

    def _repeat_on_paired(self, request: TrainRequest, hosted: Held | None) -> None:
        """Apply a request to the paired correct run too."""
        if hosted is None or hosted.beside not in self._runs or hosted.beside is None:
            return
        if (also := beside.mirrored(request, hosted.beside)) is not None:
            self._take(also)
        self._advance_paired(request.run_id, hosted)

    def _handle(self, request: TrainRequest, hosted: Held) -> None:
        run_id, run = request.run_id, hosted.run
        match request:
            case asks.Play(_, rate, until):
                self._play(run_id, hosted, rate, until)
            case asks.Pause():
                hosted.playing = False
                self._send_updates(run_id, hosted)
            case asks.Advance(_, steps):
                self._play(run_id, hosted, 0.0, ())
                hosted.goal = run.step + max(0, steps)
            case asks.StepEvent():
                self._event(run_id, hosted)
            case asks.Alter(_, setup, reread):
                self._alter(run_id, hosted, setup, reread)
            case asks.Rewind(_, step):
                run.rewind(step)
                self._settle(run_id, hosted)
            case asks.Reset(_, weights, data):
                self._reset(run_id, hosted, weights, data)
            case asks.EditWeight(_, name, index, value):
                run.edit(Edit(name, index, value))
                hosted.problem = None
                hosted.seen.clear()
                self._send_updates(run_id, hosted)
            case asks.Watch(_, wishes):
                hosted.watch(wishes)
                self._send_views(run_id, hosted, at_once=True)
            case asks.TapeStep(_, step, live):
                # Recording would finish a step that the user executes line by line.
                if not live or run.events is None:
                    tape, source, at = recorded.record(run, step)
                    self._send(answers.StepTape(run_id, at, tape, source, live))
            case asks.GoAlong(_, right_id):
                hosted.beside, hosted.memory = right_id, memory.resident()
            case asks.Keep():
                self._save(run_id, hosted)
            case asks.Export(_, kind, steps):
                self._send(telling.exported(run_id, run, kind, steps))

    def _start(self, request: asks.Train) -> None:
        setup = own.with_source(request.setup, request.source)
        setup = own.guarded(setup) if request.policy else setup
        self._register(request.run_id, Held(Run(setup)), request.play)

    def _save(self, run_id: int, hosted: Held) -> None:
        """Send all curves of a run, then the run as bytes."""
        self._send_updates(run_id, hosted)
        step = hosted.run.step
        try:
            self._send(answers.RunKept(run_id, step, saved.save(hosted.run)))
        except saved.Unfit as error:
            self._send(answers.RunKept(run_id, step, problem=Problem("Session", str(error))))

    def _register(
        self, run_id: int, hosted: Held, play: bool = False, resumed: bool = False
    ) -> None:
        """Register a new run and send its description, data, state and views."""
        if run_id not in self._runs and len(self._runs) >= MOST_RUNS:
            gone = next(i for i in self._runs if i != self._active)
            del self._runs[gone]
            self._send(answers.TrainState(gone, "gone", 0))
        self._runs[run_id] = hosted
        hosted.run.enter()
        self._send(telling.begun(run_id, hosted.run, hosted.parent, resumed))
        self._send(telling.data_shown(run_id, hosted.run))
        self._send_updates(run_id, hosted)
        if play:
            self._play(run_id, hosted, 0.0, ())
        for _ in range(hosted.run.unfinished):
            self._event(run_id, hosted)
        hosted.run.leave()

    def _fork(self, request: asks.Fork) -> None:
        source = self._runs.get(request.source_id)
        if source is None:
            self._send(answers.TrainState(request.source_id, "gone", 0))
            return
        run = source.run.fork(request.step, request.setup)
        hosted = Held(run, wishes=source.wishes, parent=(request.source_id, run.step))
        self._register(request.run_id, hosted)

    def _play(self, run_id: int, hosted: Held, rate: float, until: tuple[asks.Until, ...]) -> None:
        if self._active is not None and self._active != run_id and self._active in self._runs:
            other = self._runs[self._active]
            other.playing = False
            self._send_updates(self._active, other)
        self._active = run_id
        hosted.playing, hosted.rate, hosted.until, hosted.goal = True, rate, until, None
        hosted.problem, hosted.reached, hosted.event = None, "", 0
        hosted.run.problem = None
        hosted.began, hosted.began_at = time.perf_counter(), hosted.run.step
        hosted.guard.begin()
        hosted.goals = Goals(until, hosted.run.history.recent)

    def _event(self, run_id: int, hosted: Held) -> None:
        hosted.playing, hosted.problem = False, None
        hosted.run.problem = None
        step = hosted.run.step
        try:
            made = hosted.run.next_event()
        except Failed as error:
            hosted.problem = error.problem
            self._send_updates(run_id, hosted)
            return
        hosted.event = 0 if made.done else made.index + 1
        loss = made.loss if made.has_loss else None
        self._send(
            answers.Happened(run_id, step, made.index, made.event, made.changed, loss, made.done)
        )
        hosted.seen.clear()
        if made.done:
            self._check(hosted)
        self._send_updates(run_id, hosted)

    def _alter(self, run_id: int, hosted: Held, setup: Setup, reread: bool) -> None:
        applied, anew = ((), ("data",)) if reread else hosted.run.alter(setup)
        if anew:
            # A file that changed meanwhile is read again only if the data settings changed.
            run = Run(setup, None if "data" in anew else hosted.run.program.files)
            fresh = Held(run, wishes=hosted.wishes, beside=hosted.beside, memory=hosted.memory)
            # After a NaN pause, a changed setup resumes the run.
            playing = hosted.playing or hosted.reached == "nan"
            self._send(answers.Altered(run_id, 0, applied, anew))
            self._register(run_id, fresh, playing)
            return
        hosted.problem, hosted.reached = None, ""
        hosted.settings = hosted.run.setup
        lines, names = telling.lines(hosted.run), hosted.run.program.class_names
        self._send(answers.Altered(run_id, hosted.run.step, applied, lines=lines, classes=names))
        hosted.seen.clear()
        if not hosted.playing:
            self._send_updates(run_id, hosted)

    def _reset(self, run_id: int, hosted: Held, weights: bool, data: bool) -> None:
        run = hosted.run
        is_new = weights or data
        if not is_new and run.setup == run.past.before(0).setup:
            run.rewind(0)
            self._settle(run_id, hosted)
            return
        # Settings that were changed during the run now apply from the first step on.
        setup = telling.reseeded(run.setup, weights, data) if is_new else run.setup
        new_run = Run(setup, run.program.files)
        if not is_new:
            new_run.repeat_edits(run)
        fresh = Held(new_run, wishes=hosted.wishes, beside=hosted.beside)
        fresh.memory = hosted.memory
        self._register(run_id, fresh)

    def _settle(self, run_id: int, hosted: Held) -> None:
        """Pause a run that was moved to another step, and send its state."""
        hosted.playing, hosted.problem, hosted.reached, hosted.event = False, None, "", 0
        hosted.seen.clear()
        self._send_updates(run_id, hosted)

    # Going on

    def work(self) -> float | None:
        """Advance the playing run for one slice.

        Returns the seconds to wait before the next slice, 0 for none, or None if no run plays.
        """
        hosted = self._runs.get(self._active) if self._active is not None else None
        if hosted is None or not hosted.playing or self._active is None:
            return None
        hosted.run.enter()
        try:
            return self._slice(self._active, hosted)
        finally:
            hosted.run.leave()
            self._advance_paired(self._active, hosted)

    def _advance_paired(self, run_id: int, hosted: Held) -> None:
        """Advance the paired correct run to the same step; past a failed step for `ALONE` more."""
        other = self._runs.get(hosted.beside) if hosted.beside is not None else None
        if other is None:
            return
        failed = hosted.problem is not None and hosted.problem.type not in ("Setup", "Memory")
        goal = hosted.run.step + (ALONE if failed else 0)
        other.run.enter()
        try:
            if other.run.step < goal:
                other.run.advance(goal - other.run.step)
                self._check(other)
            if other.told < hosted.told or failed:
                self._send_updates(hosted.beside or 0, other)
        finally:
            other.run.leave()
        self._show_comparison(run_id, hosted, other)

    def _slice(self, run_id: int, hosted: Held) -> float:
        run, now = hosted.run, time.perf_counter()
        count = self._allowance(hosted, now)
        if count <= 0 and (not hosted.playing or hosted.goal is not None):
            hosted.playing = False
            self._send_updates(run_id, hosted)
            return 0.0
        if count <= 0:
            return max(0.0, min(TELL_S, hosted.told + TELL_S - now))
        # A slow step is measured on its own: an update is sent after each.
        alone = hosted.is_slow and now >= hosted.measure_at
        if count > 1 and not alone:
            measuring.go_on(run, hosted.goals, count - 1, now + SLICE_S)
        # All in one go: spread between steps, each of these would run with cold caches.
        begun = time.perf_counter()
        hosted.is_slow = alone or begun - now > SLOWEST_S
        due = (
            begun >= hosted.tell_at - SLICE_S / 2
            or run.history.waiting() >= answers.SERIES_STEPS // 2
        )
        measures = due and begun >= hosted.measure_at and not hosted.is_slow
        if not hosted.goals.reached and (count == 1 or alone or measures):
            noting = measuring.measure(run, hosted.goals)
            hosted.measure_at = begun + max(MEASURE_S, noting / TELL_SHARE["reference"])
        self._check(hosted)
        is_painted = self._painter.paint(run_id, hosted)
        if not hosted.playing:
            self._send_updates(run_id, hosted)
        elif due:
            self._send_curves(run_id, hosted)
            self._send(telling.state(run_id, hosted, hosted.told))
            now = time.perf_counter()
            hosted.tell_at = now + min(max(TELL_S, (now - begun) / TELL_SHARE[run.mode]), SLOWEST_S)
            if not is_painted:
                self._send_views(run_id, hosted, at_once=False)
        return 0.0

    def _allowance(self, hosted: Held, now: float) -> int:
        """Return how many steps may be made now, given the goal and the maximum rate."""
        most = 1 << 30
        step = hosted.run.step
        if hosted.goal is not None:
            most = hosted.goal - step
        for until in hosted.until:
            if until.kind == "step":
                most = min(most, max(0, int(until.value) - step))
                if most == 0:
                    hosted.playing, hosted.reached = False, "step"
        if hosted.rate > 0:
            most = min(most, hosted.began_at + int((now - hosted.began) * hosted.rate) + 1 - step)
        return most

    def _check(self, hosted: Held) -> None:
        """Pause if something went wrong or a stop condition holds."""
        run = hosted.run
        if run.problem is not None:
            hosted.playing = False
            hosted.problem = run.problem
            if run.problem.type == "NaN":
                hosted.problem = recorded.explain_nan(run)
                hosted.reached = "nan"
            return
        if hosted.playing and (full := hosted.guard.problem(run, time.perf_counter())):
            hosted.playing, hosted.problem, hosted.reached = False, full, "memory"
        if hosted.goal is not None and run.step >= hosted.goal:
            hosted.playing = False
        if hosted.goals.reached:
            hosted.playing, hosted.reached = False, hosted.goals.reached
        elif any(until.kind == "step" and run.step >= until.value for until in hosted.until):
            hosted.playing, hosted.reached = False, "step"

    # Telling

    def _send_updates(self, run_id: int, hosted: Held) -> None:
        """Send everything that is new."""
        for part in telling.settings(run_id, hosted):
            self._send(part)
        self._send_curves(run_id, hosted)
        # Before the views, which may take a while: a request to pause waits for this reply.
        self._send(telling.state(run_id, hosted, hosted.told))
        self._send_views(run_id, hosted, at_once=True)

    def _send_curves(self, run_id: int, hosted: Held) -> None:
        hosted.told = time.perf_counter()
        for part in telling.series(run_id, hosted.run.history):
            self._send(part)

    def _send_views(self, run_id: int, hosted: Held, at_once: bool) -> None:
        for view in telling.pictures(run_id, hosted, at_once):
            self._send(view)

    def _show_comparison(self, run_id: int, hosted: Held, other: Held) -> None:
        """Send how the two runs differ."""
        now, steps = time.perf_counter(), hosted.run.step + other.run.step
        wish = next((w for w in hosted.wishes if w.kind == "beside"), None)
        waits = hosted.playing and not hosted.pace.is_due("beside", now)
        if wish is None or waits or hosted.seen.get("beside") == steps:
            return
        hosted.seen["beside"] = steps
        facts = beside.facts(hosted.run, other.run, hosted.memory)
        end = time.perf_counter()
        hosted.pace.made("beside", end - now, end, telling.budget(hosted))
        self._send(answers.View(run_id, "beside", hosted.run.step, {}, facts))
