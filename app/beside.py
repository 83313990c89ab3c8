"""Long work in a thread of its own, and what to do with what came of it in this one."""

from collections.abc import Callable
from typing import TypeVar, cast

from PySide6.QtCore import QCoreApplication, QObject, QRunnable, QThreadPool, Signal

T = TypeVar("T")


class _Failed:
    def __init__(self, error: BaseException) -> None:
        self.error = error


class _Job(QRunnable):
    def __init__(self, beside: "Beside", number: int, make: Callable[[], object]) -> None:
        super().__init__()
        self._beside, self._number, self._make = beside, number, make

    def run(self) -> None:
        """Make it."""
        try:
            made: object = self._make()
        except Exception as error:  # noqa: BLE001 - it is raised again in the other thread
            made = _Failed(error)
        self._beside.made.emit(self._number, made)


class Beside(QObject):
    """One worker thread, which takes one thing after another."""

    made = Signal(int, object)
    """From the worker thread: the number of what was asked for, and what came of it."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._last = 0
        self._thens: dict[int, Callable[[Callable[[], object]], None]] = {}
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self.made.connect(self._take)

    @property
    def is_busy(self) -> bool:
        """Whether something is being made that somebody waits for."""
        return bool(self._thens)

    def ask(self, make: Callable[[], T], then: Callable[[Callable[[], T]], None]) -> None:
        """Call ``make`` beside; later ``then``, here, with what returns or raises what came of it.

        An exception that ``then`` lets through is nobody's but the program's.
        """
        self._last += 1
        self._thens[self._last] = cast("Callable[[Callable[[], object]], None]", then)
        self._pool.start(_Job(self, self._last, make))

    def forget(self) -> None:
        """Want nothing any more of what was asked for; what has not begun is not made."""
        self._pool.clear()
        self._thens.clear()

    def finish(self) -> None:
        """Wait for all that was asked for, and do with it what was to be done."""
        while self._thens:
            self._pool.waitForDone()
            # What was made is told by the worker, and waits for a turn of the event loop.
            QCoreApplication.sendPostedEvents(self)

    def close(self) -> None:
        """Forget all, and wait for what is being made."""
        self.forget()
        self._pool.waitForDone()

    def _take(self, number: int, made: object) -> None:
        then = self._thens.pop(number, None)
        if then is not None:
            then(lambda: _result(made))


def _result(made: object) -> object:
    if isinstance(made, _Failed):
        raise made.error
    return made
