"""Run long work in a worker thread and deliver its result in the calling thread."""

from collections.abc import Callable
from typing import TypeVar, cast

from PySide6.QtCore import QCoreApplication, QObject, QRunnable, QThreadPool, Signal

T = TypeVar("T")


class _Failed:
    def __init__(self, error: BaseException) -> None:
        self.error = error


class _Job(QRunnable):
    def __init__(self, beside: "BackgroundWorker", number: int, make: Callable[[], object]) -> None:
        super().__init__()
        self._beside, self._number, self._make = beside, number, make

    def run(self) -> None:
        """Call the function and emit its result or exception."""
        try:
            made: object = self._make()
        except Exception as error:  # noqa: BLE001 - raised again in the receiving thread
            made = _Failed(error)
        self._beside.made.emit(self._number, made)


class BackgroundWorker(QObject):
    """A single worker thread with a queue."""

    made = Signal(int, object)
    """Emitted in the worker thread: the number of a task and its result or `_Failed`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._last = 0
        self._thens: dict[int, Callable[[Callable[[], object]], None]] = {}
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self.made.connect(self._take)

    @property
    def is_busy(self) -> bool:
        """True while a task is pending whose callback has not been called."""
        return bool(self._thens)

    def submit(self, make: Callable[[], T], then: Callable[[Callable[[], T]], None]) -> None:
        """Call ``make`` in the worker thread, then ``then`` in this one.

        ``then`` gets a function that returns the result of ``make`` or raises its exception. An
        exception that escapes ``then`` counts as a bug of the program.
        """
        self._last += 1
        self._thens[self._last] = cast("Callable[[Callable[[], object]], None]", then)
        self._pool.start(_Job(self, self._last, make))

    def cancel(self) -> None:
        """Cancel all tasks: those not begun are not run, results of others are dropped."""
        self._pool.clear()
        self._thens.clear()

    def wait(self) -> None:
        """Wait for all tasks and call their callbacks."""
        while self._thens:
            self._pool.waitForDone()
            # The worker's signal is a queued event: deliver it without running the event loop.
            QCoreApplication.sendPostedEvents(self)

    def close(self) -> None:
        """Cancel all tasks and wait for the running one."""
        self.cancel()
        self._pool.waitForDone()

    def _take(self, number: int, made: object) -> None:
        then = self._thens.pop(number, None)
        if then is not None:
            then(lambda: _result(made))


def _result(made: object) -> object:
    if isinstance(made, _Failed):
        raise made.error
    return made
