"""Training server: routes requests to its runs, and advances the playing run in time slices."""

import time
from collections.abc import Callable

from gradscribe.engine.protocol.check_replies import shorten
from gradscribe.engine.protocol.safe_text import type_name
from gradscribe.engine.protocol.setup import MISTAKES, SetupError
from gradscribe.engine.protocol.tape import Problem
from gradscribe.engine.protocol.training import TrainReply, TrainRequest, requests
from gradscribe.engine.protocol.training import replies as training_replies
from gradscribe.engine.run import async_devices
from gradscribe.engine.run.errors import USER_ERRORS, error_message
from gradscribe.engine.train.runs import saved
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve import paired_run, replies, table_summary
from gradscribe.engine.train.serve.hosted_run import HostedRun
from gradscribe.engine.train.serve.samples import data_samples
from gradscribe.engine.train.serve.view_client import ViewClient
from gradscribe.engine.train.source import catalogue
from gradscribe.engine.train.source.changes import WeightEdit
from gradscribe.engine.train.source.program import ProgramError
from gradscribe.engine.zoo import provided_files
from gradscribe.engine.zoo.models import own

MOST_RUNS = 8


class TrainingHost:
    """All runs of an engine."""

    def __init__(
        self, send: Callable[[TrainReply], None], painter: ViewClient | None = None
    ) -> None:
        self._deliver = send
        self._is_detached = False
        self._painter = painter
        self._runs: dict[int, HostedRun] = {}
        self._active: int | None = None

    def _send(self, reply: TrainReply) -> None:
        # What is dropped is in the history of the run, and sent when a window rejoins it.
        if not self._is_detached:
            self._deliver(shorten(reply))

    # Taking requests

    def take(self, request: TrainRequest) -> None:
        """Handle a request; errors are sent to the window as `TrainProblem`."""
        self._is_detached = isinstance(request, requests.Detach)
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
        if self._painter is not None:
            self._painter.handle_request(request)
        match request:
            case requests.ListCatalogue(run_id):
                contents = (catalogue.entries(), dict(MISTAKES), data_samples())
                left_out = catalogue.left_out_plugins()
                self._send(training_replies.Catalogue(run_id, *contents, left_out))
            case requests.Train(run_id, setup, play, source, policy):
                setup = own.with_source(setup, source)
                setup = own.with_policy(setup) if policy else setup
                self._register(HostedRun(run_id, TrainingRun(setup), self._send), play)
            case requests.ProvideFile(_, path, data, problem, sample):
                provided_files.provide(path, data, problem, sample)
            case requests.InspectFile(run_id, path, header, options):
                self._send(table_summary.summarize_table(run_id, path, header, options))
            case requests.Fork(run_id, source_id, step, setup):
                if source_id in self._runs:
                    self._register(self._runs[source_id].fork(run_id, step, setup))
                else:
                    self._send_gone(source_id)
            case requests.ResumeRun(run_id, data, parent, policy=policy):
                run = saved.resume(data, policy)
                self._register(HostedRun(run_id, run, self._send, parent=parent), resumed=True)
            case requests.Detach():
                pass
            case requests.DropRun(run_id):
                self._runs.pop(run_id, None)
            case _ if request.run_id in self._runs:
                hosted = self._runs[request.run_id]
                with hosted.run.entered():
                    self._handle(request, hosted)
                self._repeat_on_paired(request)
            case _:
                self._send_gone(request.run_id)

    def _send_gone(self, run_id: int) -> None:
        self._send(training_replies.TrainState(run_id, "gone", 0))

    def _repeat_on_paired(self, request: TrainRequest) -> None:
        """Apply a request to the paired correct run too."""
        hosted = self._runs[request.run_id]
        if hosted.paired_id is None or hosted.paired_id not in self._runs:
            return
        if (also := paired_run.mirrored_request(request, hosted.paired_id)) is not None:
            self._take(also)
        self._advance_paired(hosted)

    def _handle(self, request: TrainRequest, hosted: HostedRun) -> None:
        match request:
            case requests.Play(_, rate, until):
                self._activate(hosted)
                hosted.play(rate, until)
            case requests.Pause():
                hosted.pause()
            case requests.Advance(_, steps):
                self._activate(hosted)
                hosted.play(steps=steps)
            case requests.StepEvent():
                hosted.step_event()
            case requests.ChangeSetup():
                if (fresh := hosted.change_setup(request)) is not None:
                    # After a NaN pause, a changed setup resumes the run.
                    self._register(fresh, play=hosted.playing or hosted.reached == "nan")
            case requests.Rewind(_, step):
                left = hosted.rewind(step)
                if left and not self._is_paired(hosted):
                    self._activate(hosted)
                    hosted.play(steps=left)
            case requests.ResetRun(_, weights, data):
                if (fresh := hosted.reset(weights, data)) is not None:
                    self._register(fresh)
            case requests.EditWeight(_, name, index, value):
                hosted.edit(WeightEdit(name, index, value))
            case requests.WatchViews(_, wishes):
                hosted.watch(wishes)
            case requests.RecordStep(_, step, live):
                hosted.record(step, live)
            case requests.PairRuns(_, right_id):
                hosted.pair(right_id)
            case requests.RejoinRun(_, step):
                hosted.rejoin(step)
            case requests.SaveRun():
                hosted.save()
            case requests.Export(run_id, kind, steps):
                self._send(replies.exported(run_id, hosted.run, kind, steps, hosted.adviser.given))

    def _register(self, hosted: HostedRun, play: bool = False, resumed: bool = False) -> None:
        """Add a run, in place of the oldest if there are too many, and start it."""
        if hosted.run_id not in self._runs and len(self._runs) >= MOST_RUNS:
            gone = next(i for i in self._runs if i != self._active)
            del self._runs[gone]
            self._send_gone(gone)
        self._runs[hosted.run_id] = hosted
        with hosted.run.entered():
            hosted.start(resumed)
            if play:
                self._activate(hosted)
                hosted.play()
            for _ in range(hosted.run.pending_events):
                hosted.step_event()

    def _is_paired(self, hosted: HostedRun) -> bool:
        """Return whether a run follows another, as its correct run."""
        return any(other.paired_id == hosted.run_id for other in self._runs.values())

    def _activate(self, hosted: HostedRun) -> None:
        """Make a run the one that plays; pause another."""
        other = self._runs.get(self._active) if self._active is not None else None
        if other is not None and self._active != hosted.run_id:
            other.pause()
        self._active = hosted.run_id

    # Time slices

    def work(self) -> float | None:
        """Advance the playing run for one slice.

        Returns the seconds to wait before the next slice, 0 for none, or None if no run plays.
        """
        hosted = self._runs.get(self._active) if self._active is not None else None
        if hosted is None or not hosted.playing:
            return None
        try:
            with hosted.run.entered():
                return self._slice(hosted)
        finally:
            self._advance_paired(hosted)

    def _slice(self, hosted: HostedRun) -> float:
        now = time.perf_counter()
        count = hosted.allowed_steps(now)
        if count <= 0:
            return hosted.wait(now)
        begun, due = hosted.advance(count, now)
        is_painted = self._painter is not None and self._painter.send_snapshot(hosted)
        hosted.report_slice(begun, due, with_views=not is_painted)
        return 0.0

    def _advance_paired(self, hosted: HostedRun) -> None:
        other = self._runs.get(hosted.paired_id) if hosted.paired_id is not None else None
        if other is not None:
            hosted.advance_paired(other)
