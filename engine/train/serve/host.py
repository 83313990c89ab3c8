"""Training server: handles requests, advances runs in time slices, sends their results."""

import time
from collections.abc import Callable

from gradscribe.engine.protocol.check_replies import shorten
from gradscribe.engine.protocol.safe_text import type_name
from gradscribe.engine.protocol.setup import MISTAKES, Setup, SetupError
from gradscribe.engine.protocol.tape import Problem
from gradscribe.engine.protocol.training import TrainReply, TrainRequest, requests
from gradscribe.engine.protocol.training import replies as training_replies
from gradscribe.engine.run import async_devices
from gradscribe.engine.run.errors import USER_ERRORS, error_message
from gradscribe.engine.train import memory
from gradscribe.engine.train.runs import measure, record_step, saved
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.runs.stop_conditions import StopConditions
from gradscribe.engine.train.serve import files, paired_run, replies
from gradscribe.engine.train.serve.hosted_run import HostedRun
from gradscribe.engine.train.serve.samples import data_samples
from gradscribe.engine.train.serve.view_client import NoViewClient, ViewClient
from gradscribe.engine.train.source import catalogue
from gradscribe.engine.train.source.changes import WeightEdit
from gradscribe.engine.train.source.program import ProgramError
from gradscribe.engine.zoo import provided_files
from gradscribe.engine.zoo.models import own

UPDATE_S = 1 / 30
SLICE_S = 1 / 33
"""Length of a time slice of training: after each interruption the caches are cold."""
MEASURE_S = 0.2
"""Seconds between two measured steps (gradient norms and update ratios)."""
UPDATE_SHARE = {"reference": 0.01, "captured": 0.15}
"""Maximum share of the time for sending updates, including the measured step: if exceeded, updates
are sent less often than every `UPDATE_S`, but at least every `SLOWEST_UPDATE_S`."""
SLOWEST_UPDATE_S = 0.1
MOST_RUNS = 8
STEPS_AFTER_FAILURE = 300
"""Steps that the correct run of a pair makes on its own after the run with a mistake failed."""


class TrainingHost:
    """All runs of an engine."""

    def __init__(
        self, send: Callable[[TrainReply], None], painter: ViewClient | None = None
    ) -> None:
        self._send: Callable[[TrainReply], None] = lambda reply: send(shorten(reply))
        self._painter = painter or NoViewClient()
        self._runs: dict[int, HostedRun] = {}
        self._active: int | None = None

    # Taking requests

    def take(self, request: TrainRequest) -> None:
        """Handle a request; errors are sent to the window as `TrainProblem`."""
        try:
            self._take(request)
        except SetupError as error:
            self._refuse(request.run_id, Problem("Setup", str(error)), error.place)
        except ProgramError as error:
            self._refuse(request.run_id, error.problem, error.place)
        except MemoryError:
            self._refuse(request.run_id, Problem("MemoryError", "Not enough memory for this"))
        except USER_ERRORS as error:
            if async_devices.device_failure():
                raise
            message = error_message(error).partition("\n")[0]
            self._refuse(request.run_id, Problem(type_name(type(error)), message))

    def _refuse(self, run_id: int, problem: Problem, place: str = "") -> None:
        self._send(training_replies.TrainProblem(run_id, problem, place))

    def _take(self, request: TrainRequest) -> None:
        self._painter.handle_request(request)
        match request:
            case requests.ListCatalogue(run_id):
                contents = (catalogue.entries(), dict(MISTAKES), data_samples())
                self._send(training_replies.Catalogue(run_id, *contents))
            case requests.Train():
                self._start(request)
            case requests.ProvideFile(_, path, data, problem, sample):
                provided_files.provide(path, data, problem, sample)
            case requests.InspectFile(run_id, path, header):
                self._send(files.summarize_csv(run_id, path, header))
            case requests.Fork():
                self._fork(request)
            case requests.ResumeRun(run_id, data, parent, policy=policy):
                again = HostedRun(saved.resume(data, policy), parent=parent)
                self._register(run_id, again, resumed=True)
            case requests.DropRun(run_id):
                self._runs.pop(run_id, None)
            case _:
                hosted = self._runs.get(request.run_id)
                if hosted is None:
                    self._send(training_replies.TrainState(request.run_id, "gone", 0))
                    return
                hosted.run.enter()
                try:
                    self._handle(request, hosted)
                finally:
                    hosted.run.leave()
                self._repeat_on_paired(request, self._runs.get(request.run_id))

    def _repeat_on_paired(self, request: TrainRequest, hosted: HostedRun | None) -> None:
        """Apply a request to the paired correct run too."""
        if hosted is None or hosted.paired_id not in self._runs or hosted.paired_id is None:
            return
        if (also := paired_run.mirrored_request(request, hosted.paired_id)) is not None:
            self._take(also)
        self._advance_paired(request.run_id, hosted)

    def _handle(self, request: TrainRequest, hosted: HostedRun) -> None:
        run_id, run = request.run_id, hosted.run
        match request:
            case requests.Play(_, rate, until):
                self._play(run_id, hosted, rate, until)
            case requests.Pause():
                hosted.playing = False
                self._send_updates(run_id, hosted)
            case requests.Advance(_, steps):
                self._play(run_id, hosted, 0.0, ())
                hosted.goal = run.step + max(0, steps)
            case requests.StepEvent():
                self._event(run_id, hosted)
            case requests.ChangeSetup(_, setup, reread):
                self._alter(run_id, hosted, setup, reread)
            case requests.Rewind(_, step):
                run.rewind(step)
                self._settle(run_id, hosted)
            case requests.ResetRun(_, weights, data):
                self._reset(run_id, hosted, weights, data)
            case requests.EditWeight(_, name, index, value):
                run.edit(WeightEdit(name, index, value))
                hosted.problem = None
                hosted.seen.clear()
                self._send_updates(run_id, hosted)
            case requests.WatchViews(_, wishes):
                hosted.watch(wishes)
                self._send_views(run_id, hosted, at_once=True)
            case requests.RecordStep(_, step, live):
                # Recording would finish a step that the user executes line by line.
                if not live or run.events is None:
                    tape, source, at = record_step.record_step(run, step)
                    self._send(training_replies.StepTape(run_id, at, tape, source, live))
            case requests.PairRuns(_, right_id):
                hosted.paired_id, hosted.memory = right_id, memory.resident_bytes()
            case requests.SaveRun():
                self._save(run_id, hosted)
            case requests.Export(_, kind, steps):
                self._send(replies.exported(run_id, run, kind, steps))

    def _start(self, request: requests.Train) -> None:
        setup = own.with_source(request.setup, request.source)
        setup = own.with_policy(setup) if request.policy else setup
        self._register(request.run_id, HostedRun(TrainingRun(setup)), request.play)

    def _save(self, run_id: int, hosted: HostedRun) -> None:
        """Send all curves of a run, then the run as bytes."""
        self._send_updates(run_id, hosted)
        step = hosted.run.step
        try:
            self._send(training_replies.RunSaved(run_id, step, saved.save(hosted.run)))
        except saved.SavedRunError as error:
            self._send(
                training_replies.RunSaved(run_id, step, problem=Problem("Session", str(error)))
            )

    def _register(
        self, run_id: int, hosted: HostedRun, play: bool = False, resumed: bool = False
    ) -> None:
        """Register a new run and send its description, data, state and views."""
        if run_id not in self._runs and len(self._runs) >= MOST_RUNS:
            gone = next(i for i in self._runs if i != self._active)
            del self._runs[gone]
            self._send(training_replies.TrainState(gone, "gone", 0))
        self._runs[run_id] = hosted
        hosted.run.enter()
        self._send(replies.run_started(run_id, hosted.run, hosted.parent, resumed))
        self._send(replies.data_sample(run_id, hosted.run))
        self._send_updates(run_id, hosted)
        if play:
            self._play(run_id, hosted, 0.0, ())
        for _ in range(hosted.run.pending_events):
            self._event(run_id, hosted)
        hosted.run.leave()

    def _fork(self, request: requests.Fork) -> None:
        source = self._runs.get(request.source_id)
        if source is None:
            self._send(training_replies.TrainState(request.source_id, "gone", 0))
            return
        run = source.run.fork(request.step, request.setup)
        hosted = HostedRun(run, wishes=source.wishes, parent=(request.source_id, run.step))
        self._register(request.run_id, hosted)

    def _play(
        self, run_id: int, hosted: HostedRun, rate: float, until: tuple[requests.StopCondition, ...]
    ) -> None:
        if self._active is not None and self._active != run_id and self._active in self._runs:
            other = self._runs[self._active]
            other.playing = False
            self._send_updates(self._active, other)
        self._active = run_id
        hosted.playing, hosted.rate, hosted.until, hosted.goal = True, rate, until, None
        hosted.problem, hosted.reached, hosted.event = None, "", 0
        hosted.run.problem = None
        hosted.play_start, hosted.play_start_step = time.perf_counter(), hosted.run.step
        hosted.guard.begin()
        hosted.goals = StopConditions(until, hosted.run.history.recent)

    def _event(self, run_id: int, hosted: HostedRun) -> None:
        hosted.playing, hosted.problem = False, None
        hosted.run.problem = None
        step = hosted.run.step
        try:
            made = hosted.run.next_event()
        except ProgramError as error:
            hosted.problem = error.problem
            self._send_updates(run_id, hosted)
            return
        hosted.event = 0 if made.done else made.index + 1
        loss = made.loss if made.has_loss else None
        self._send(
            training_replies.EventDone(
                run_id, step, made.index, made.event, made.changed, loss, made.done
            )
        )
        hosted.seen.clear()
        if made.done:
            self._check(hosted)
        self._send_updates(run_id, hosted)

    def _alter(self, run_id: int, hosted: HostedRun, setup: Setup, reread: bool) -> None:
        applied, anew = ((), ("data",)) if reread else hosted.run.change_setup(setup)
        if anew:
            # A file that changed meanwhile is read again only if the data settings changed.
            run = TrainingRun(setup, None if "data" in anew else hosted.run.program.files)
            fresh = HostedRun(
                run, wishes=hosted.wishes, paired_id=hosted.paired_id, memory=hosted.memory
            )
            # After a NaN pause, a changed setup resumes the run.
            playing = hosted.playing or hosted.reached == "nan"
            self._send(training_replies.SetupChanged(run_id, 0, applied, anew))
            self._register(run_id, fresh, playing)
            return
        hosted.problem, hosted.reached = None, ""
        hosted.settings = hosted.run.setup
        lines, names = replies.lines(hosted.run), hosted.run.program.class_names
        self._send(
            training_replies.SetupChanged(
                run_id, hosted.run.step, applied, lines=lines, classes=names
            )
        )
        hosted.seen.clear()
        if not hosted.playing:
            self._send_updates(run_id, hosted)

    def _reset(self, run_id: int, hosted: HostedRun, weights: bool, data: bool) -> None:
        run = hosted.run
        is_new = weights or data
        if not is_new and run.setup == run.checkpoints.before(0).setup:
            run.rewind(0)
            self._settle(run_id, hosted)
            return
        # Settings that were changed during the run now apply from the first step on.
        setup = replies.reseeded(run.setup, weights, data) if is_new else run.setup
        new_run = TrainingRun(setup, run.program.files)
        if not is_new:
            new_run.repeat_edits(run)
        fresh = HostedRun(new_run, wishes=hosted.wishes, paired_id=hosted.paired_id)
        fresh.memory = hosted.memory
        self._register(run_id, fresh)

    def _settle(self, run_id: int, hosted: HostedRun) -> None:
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

    def _advance_paired(self, run_id: int, hosted: HostedRun) -> None:
        """Advance the correct run of a pair; past a failed step by `STEPS_AFTER_FAILURE` more."""
        other = self._runs.get(hosted.paired_id) if hosted.paired_id is not None else None
        if other is None:
            return
        failed = hosted.problem is not None and hosted.problem.type not in ("Setup", "Memory")
        goal = hosted.run.step + (STEPS_AFTER_FAILURE if failed else 0)
        other.run.enter()
        try:
            if other.run.step < goal:
                other.run.advance(goal - other.run.step)
                self._check(other)
            if other.sent_at < hosted.sent_at or failed:
                self._send_updates(hosted.paired_id or 0, other)
        finally:
            other.run.leave()
        self._show_comparison(run_id, hosted, other)

    def _slice(self, run_id: int, hosted: HostedRun) -> float:
        run, now = hosted.run, time.perf_counter()
        count = self._allowance(hosted, now)
        if count <= 0 and (not hosted.playing or hosted.goal is not None):
            hosted.playing = False
            self._send_updates(run_id, hosted)
            return 0.0
        if count <= 0:
            return max(0.0, min(UPDATE_S, hosted.sent_at + UPDATE_S - now))
        # A slow step is measured on its own: an update is sent after each.
        alone = hosted.is_slow and now >= hosted.next_measure_at
        if count > 1 and not alone:
            measure.advance_measured(run, hosted.goals, count - 1, now + SLICE_S)
        # All in one go: spread between steps, each of these would run with cold caches.
        begun = time.perf_counter()
        hosted.is_slow = alone or begun - now > SLOWEST_UPDATE_S
        due = (
            begun >= hosted.next_send_at - SLICE_S / 2
            or run.history.unsent_count() >= training_replies.SERIES_STEPS // 2
        )
        measures = due and begun >= hosted.next_measure_at and not hosted.is_slow
        if not hosted.goals.reached and (count == 1 or alone or measures):
            noting = measure.measure_step(run, hosted.goals)
            hosted.next_measure_at = begun + max(MEASURE_S, noting / UPDATE_SHARE["reference"])
        self._check(hosted)
        is_painted = self._painter.send_snapshot(run_id, hosted)
        if not hosted.playing:
            self._send_updates(run_id, hosted)
        elif due:
            self._send_curves(run_id, hosted)
            self._send(replies.state(run_id, hosted, hosted.sent_at))
            now = time.perf_counter()
            hosted.next_send_at = now + min(
                max(UPDATE_S, (now - begun) / UPDATE_SHARE[run.mode]), SLOWEST_UPDATE_S
            )
            if not is_painted:
                self._send_views(run_id, hosted, at_once=False)
        return 0.0

    def _allowance(self, hosted: HostedRun, now: float) -> int:
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
            most = min(
                most,
                hosted.play_start_step + int((now - hosted.play_start) * hosted.rate) + 1 - step,
            )
        return most

    def _check(self, hosted: HostedRun) -> None:
        """Pause if something went wrong or a stop condition holds."""
        run = hosted.run
        if run.problem is not None:
            hosted.playing = False
            hosted.problem = run.problem
            if run.problem.type == "NaN":
                hosted.problem = record_step.explain_nan(run)
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

    def _send_updates(self, run_id: int, hosted: HostedRun) -> None:
        """Send everything that is new."""
        for part in replies.restored_setup(run_id, hosted):
            self._send(part)
        self._send_curves(run_id, hosted)
        # Before the views, which may take a while: a request to pause waits for this reply.
        self._send(replies.state(run_id, hosted, hosted.sent_at))
        self._send_views(run_id, hosted, at_once=True)

    def _send_curves(self, run_id: int, hosted: HostedRun) -> None:
        hosted.sent_at = time.perf_counter()
        for part in replies.series(run_id, hosted.run.history):
            self._send(part)

    def _send_views(self, run_id: int, hosted: HostedRun, at_once: bool) -> None:
        for view in replies.due_views(run_id, hosted, at_once):
            self._send(view)

    def _show_comparison(self, run_id: int, hosted: HostedRun, other: HostedRun) -> None:
        """Send how the two runs differ."""
        now, steps = time.perf_counter(), hosted.run.step + other.run.step
        wish = next((w for w in hosted.wishes if w.kind == "beside"), None)
        waits = hosted.playing and not hosted.pace.is_due("beside", now)
        if wish is None or waits or hosted.seen.get("beside") == steps:
            return
        hosted.seen["beside"] = steps
        facts = paired_run.comparison_facts(hosted.run, other.run, hosted.memory)
        end = time.perf_counter()
        hosted.pace.record_cost("beside", end - now, end, replies.view_budget(hosted))
        self._send(training_replies.ViewReply(run_id, "beside", hosted.run.step, {}, facts))
