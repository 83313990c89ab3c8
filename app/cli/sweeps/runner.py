"""Run the trials of a sweep in an executor; each result is on the disk at once.

Only JSON texts go to the executor and come back, so that it may be one of any machine.
"""

import concurrent.futures
import json
import queue
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field

import msgspec

from gradscribe.app.cli.sweeps import trial as trials_in
from gradscribe.app.training.sweep import rows as trial_rows
from gradscribe.app.training.sweep.folder import SweepFolder
from gradscribe.app.training.sweep.rows import TrialRow
from gradscribe.app.training.sweep.trials import Trial
from gradscribe.engine.protocol.structs import replace

POLL_S = 0.2
TRIES = 3
"""Most times that a trial is begun whose engine or worker dies."""


class ClusterLost(Exception):
    """The executor gives no more results; the message is the reason."""


@dataclass
class Listener:
    """Functions that are called while a sweep runs, all in the thread that runs it."""

    progress: Callable[[TrialRow], object] = lambda _: None
    """A running trial made steps."""
    finished: Callable[[TrialRow], object] = lambda _: None
    """A trial ended, and its result is on the disk."""
    tick: Callable[[], object] = lambda: None


@dataclass
class SweepRun:
    """The trials of a sweep and their rows, by number."""

    trials: Sequence[Trial]
    folder: SweepFolder | None = None
    """None: the results are not written."""
    policy: bool = True
    python: str = ""
    listener: Listener = field(default_factory=Listener)
    rows: dict[int, TrialRow] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.by_number = {trial.number: trial for trial in self.trials}
        self.rows = {trial.number: trial_rows.waiting(trial) for trial in self.trials}
        if self.folder is not None:
            self.rows |= self.folder.finished(self.trials)
        there = [t for t in self.trials if self.rows[t.number].status in trial_rows.ENDED]
        self.resumed = len(there)
        """Number of trials whose results were there before."""
        self._resumed_steps = sum(max(1, trial.setup.steps) for trial in there)
        self._reports: queue.Queue[tuple[int, int, float, float]] = queue.Queue()
        self._pending: dict[Future[str], Trial] = {}
        self._tries: dict[int, int] = {}
        self._began = time.monotonic()

    def run(
        self,
        executor: Executor,
        reports: bool,
        is_alive: Callable[[], bool] = lambda: True,
    ) -> None:
        """Run all trials that have no result; with ``reports`` the executor takes a callback.

        ``is_alive`` returns False once the executor gives no more results.

        Raises:
            Refused: a result cannot be written.
            ClusterLost: the executor is gone.
            KeyboardInterrupt: results so far are on the disk.
        """
        self._began = time.monotonic()
        for trial in self.trials:
            if self.rows[trial.number].status not in trial_rows.ENDED:
                self._submit(executor, trial, reports)
        while self._pending:
            done, _ = concurrent.futures.wait(
                self._pending, POLL_S, concurrent.futures.FIRST_COMPLETED
            )
            self._take_reports()
            for future in done:
                trial = self._pending.pop(future)
                result = _result(future)
                if result["status"] == "died" and self._tries[trial.number] < TRIES:
                    self._submit(executor, trial, reports)
                else:
                    self._finish(trial, result)
            self.listener.tick()
            if not done and not is_alive():
                raise ClusterLost("the scheduler cannot be reached")

    def _submit(self, executor: Executor, trial: Trial, reports: bool) -> None:
        self._tries[trial.number] = self._tries.get(trial.number, 0) + 1
        request = trials_in.encode_request(trial.setup, self.policy, self.python)
        if reports:
            future = executor.submit(trials_in.run_trial, request, self._report(trial.number))
        else:
            future = executor.submit(trials_in.run_trial, request)
        self._pending[future] = trial

    def _report(self, number: int) -> trials_in.Report:
        return lambda step, loss, validation: self._reports.put((number, step, loss, validation))

    def _take_reports(self) -> None:
        latest = {}
        while not self._reports.empty():
            number, *numbers = self._reports.get()
            latest[number] = numbers
        for number, (step, loss, validation) in latest.items():
            if self.rows[number].status not in trial_rows.ENDED:
                row = replace(
                    self.rows[number],
                    status="running",
                    step=int(step),
                    loss=_known(loss),
                    validation_loss=_known(validation),
                )
                self.rows[number] = row
                self.listener.progress(row)

    def _finish(self, trial: Trial, result: dict[str, object]) -> None:
        try:
            row = (
                trial_rows.row(trial, result)
                if self.folder is None
                else self.folder.write(trial, result)
            )
        except msgspec.ValidationError as error:
            row = replace(
                trial_rows.waiting(trial), status="died", problem=f"no result came back: {error}"
            )
        self.rows[trial.number] = row
        self.listener.finished(row)

    @property
    def all_rows(self) -> list[TrialRow]:
        """The rows in the order of the trials."""
        return [self.rows[trial.number] for trial in self.trials]

    @property
    def finished(self) -> int:
        """Number of trials with a result."""
        return sum(row.status in trial_rows.ENDED for row in self.rows.values())

    @property
    def seconds_left(self) -> float | None:
        """Seconds until all trials have ended, at the rate so far; None before there is one."""
        done = todo = 0
        for trial in self.trials:
            row = self.rows[trial.number]
            steps = max(1, trial.setup.steps)
            made = steps if row.status in (*trial_rows.ENDED, "died") else min(row.step, steps)
            done, todo = done + made, todo + steps - made
        done -= self._resumed_steps
        return (time.monotonic() - self._began) * todo / done if done > 0 else None


def _known(number: float) -> float | None:
    return number if number == number and abs(number) != float("inf") else None


def _result(future: "Future[str]") -> dict[str, object]:
    """Return the result of a trial; a worker that is gone is an end of it, too.

    Raises:
        ClusterLost: the executor has given up the trial.
    """
    try:
        text = future.result()
    except concurrent.futures.CancelledError as error:
        raise ClusterLost(str(error) or "the scheduler is gone") from error
    except ModuleNotFoundError as error:
        raise ClusterLost(f"a worker's Python has no {error.name}: install gradscribe") from error
    except Exception as error:  # noqa: BLE001 - those of any executor
        first = (str(error) or type(error).__name__).splitlines()[0]
        return trials_in.failed("died", f"{type(error).__name__}: {first[:200]}")
    try:
        found = json.loads(text)
    except (TypeError, ValueError):
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("status"), str):
        return trials_in.failed("died", "its worker sent no result")
    return found
