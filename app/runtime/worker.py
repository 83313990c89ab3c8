"""Run long work in a worker thread and deliver its result in the calling thread."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, NoReturn, TypeVar, cast

from PySide6.QtCore import QCoreApplication, QObject, QRunnable, QThreadPool, Signal

T = TypeVar("T")

PROGRESS_STEPS = 200
"""Most progress reports of a task that are delivered."""


class TaskCancelled(Exception):
    """Raised in the worker thread to end a cancelled task."""


class BackgroundTask(QRunnable):
    """One call in the worker thread."""

    def __init__(
        self, worker: "BackgroundWorker", number: int, make: Callable[["BackgroundTask"], object]
    ) -> None:
        super().__init__()
        self._worker, self._number, self._make = worker, number, make
        self._step = -1

    def is_cancelled(self) -> bool:
        """Return whether the result is not wanted any more."""
        return not self._worker.is_pending(self._number)

    def report(self, share: float) -> None:
        """Report the fraction done, 0 to 1.

        Raises:
            TaskCancelled: the task is cancelled.
        """
        if self.is_cancelled():
            raise TaskCancelled
        if int(PROGRESS_STEPS * share) != self._step:
            self._step = int(PROGRESS_STEPS * share)
            self._worker.progressed.emit(self._number, share)

    def run(self) -> None:
        """Call the function and emit its result or exception."""
        if self.is_cancelled():
            return
        try:
            made = self._make(self)
        except BaseException as error:  # noqa: BLE001 - raised again in the receiving thread
            self._worker.made.emit(self._number, partial(_fail, error))
        else:
            self._worker.made.emit(self._number, lambda: made)


def _fail(error: BaseException) -> NoReturn:
    raise error


class _Callbacks(NamedTuple):
    then: Callable[[Callable[[], object]], None]
    progress: Callable[[float], None]


class BackgroundWorker(QObject):
    """A single worker thread with a queue."""

    made = Signal(int, object)
    """Emitted in the worker thread: number of a task, function that returns its result or fails."""
    progressed = Signal(int, float)
    """Emitted in the worker thread: number of a task and the fraction done."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._last = 0
        self._pending: dict[int, _Callbacks] = {}
        self._is_ending = False
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self.made.connect(self._take)
        self.progressed.connect(self._show_progress)

    @property
    def is_busy(self) -> bool:
        """True while a task is pending whose callback has not been called."""
        return bool(self._pending)

    @property
    def is_running(self) -> bool:
        """True while the thread works, be it on a cancelled task."""
        return self._pool.activeThreadCount() > 0

    def is_pending(self, number: int) -> bool:
        """Return whether the task with this number is not cancelled. Thread-safe."""
        return number in self._pending

    def submit(self, make: Callable[[], T], then: Callable[[Callable[[], T]], None]) -> None:
        """Call ``make`` in the worker thread, then ``then`` in this one.

        ``then`` gets a function that returns the result of ``make`` or raises its exception. An
        exception that escapes ``then`` counts as a bug of the program.
        """
        self._start(lambda _task: make(), then)

    def request(
        self,
        make: Callable[[BackgroundTask], T],
        then: Callable[[Callable[[], T]], None],
        progress: Callable[[float], None] = lambda _share: None,
    ) -> None:
        """Cancel all tasks and `submit` one, which can report progress and look for cancellation.

        ``progress`` is called in this thread with what it reports.
        """
        self.cancel()
        self._start(make, then, progress)

    def _start(
        self,
        make: Callable[[BackgroundTask], T],
        then: Callable[[Callable[[], T]], None],
        progress: Callable[[float], None] = lambda _share: None,
    ) -> None:
        self._last += 1
        self._pending[self._last] = _Callbacks(
            cast("Callable[[Callable[[], object]], None]", then), progress
        )
        self._pool.start(BackgroundTask(self, self._last, make))

    def cancel(self) -> None:
        """Cancel all tasks: those not begun are not run, results of others are dropped."""
        self._pool.clear()
        self._pending.clear()

    def wait(self) -> None:
        """Wait for all tasks and call their callbacks."""
        while self._pending:
            self._pool.waitForDone()
            # The worker's signal is a queued event: deliver it without running the event loop.
            QCoreApplication.sendPostedEvents(self)

    def close(self) -> None:
        """Cancel all tasks and wait for the running one."""
        self.cancel()
        self._pool.waitForDone()

    def close_later(self) -> None:
        """Cancel all tasks without waiting; if one is running, delete this object when it ends."""
        program = QCoreApplication.instance()
        if self._is_ending:
            return
        self.cancel()
        if program is not None and self.is_running:
            self._is_ending = True
            # Its former parent may be deleted earlier, and would block until the thread ends.
            self.setParent(program)
            program.aboutToQuit.connect(self._pool.waitForDone)
            self.submit(lambda: None, lambda _: self.deleteLater())

    def _take(self, number: int, result: Callable[[], object]) -> None:
        if number in self._pending:
            self._pending.pop(number).then(result)

    def _show_progress(self, number: int, share: float) -> None:
        if number in self._pending:
            self._pending[number].progress(share)
