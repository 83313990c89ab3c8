"""Export queue: run one export job in time slices while the window stays responsive."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from concurrent.futures import Future
from typing import TypeVar

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

from gradscribe.app.files.documents import Refused
from gradscribe.app.ui.canvas.progress_chip import ProgressChip
from gradscribe.playback.translation import tr

WAITING = -1
"""Yielded instead of a progress number while a worker thread is busy."""
WAIT_MS = 20
"""Polling interval while waiting for a worker thread."""
SLICE_MS = 10
"""Time slice for steps before control returns to the event loop."""


T = TypeVar("T")


class ExportJob(ABC):
    """An export job, and the messages about it.

    It is driven by the iterator `steps`, also without an event loop: work in a thread is a future
    that the iterator polls, and no `BackgroundWorker`, whose results are delivered by events.
    """

    verb = tr("Writing")

    def __init__(self, name: str) -> None:
        self.name = name
        """Name of the result, shown on the chip."""
        self.done_text = tr("Wrote {name}", name=name)
        self.busy_text = tr("{name} is still being written", name=name)
        """Message for another export that is requested meanwhile."""
        self.cancelled_text = tr("{name} was not written", name=name)

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of steps, approximately."""

    @abstractmethod
    def steps(self) -> Iterator[int]:
        """Do the work, yielding the number of steps done, or `WAITING`, after each."""

    def try_cancel(self) -> bool:
        """Cancel without leaving a file; False if it is too late because it is about to finish."""
        return True


def awaited(asked: Future[T]) -> Generator[int, None, T]:
    """Yield `WAITING` until a future is done; return its result."""
    while not asked.done():
        yield WAITING
    return asked.result()


class ExportQueue(QObject):
    """Run one export job at a time, show its progress on a chip and report the outcome."""

    ended = Signal(str)
    busy_changed = Signal()

    def __init__(self, chip: ProgressChip, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chip = chip
        self._made: ExportJob | None = None
        self._steps: Iterator[int] = iter(())
        self._turn = QTimer(self)
        self._turn.setInterval(0)
        self._turn.timeout.connect(self._go_on)
        chip.cancelled.connect(self.cancel)

    @property
    def busy(self) -> bool:
        """True while a job is running."""
        return self._made is not None

    def check_free(self) -> None:
        """Check that a job could begin.

        Raises:
            Refused: another job is running.
        """
        if self._made is not None:
            raise Refused(tr("{busy_text}; wait, or cancel it", busy_text=self._made.busy_text))

    def begin(self, made: ExportJob) -> None:
        """Start a job.

        Raises:
            Refused: another job is running.
        """
        self.check_free()
        self._made, self._steps = made, made.steps()
        self._turn.start()
        self._chip.begin(made.verb, made.name)
        self.busy_changed.emit()

    def cancel(self) -> None:
        """Cancel the job; no file is left behind."""
        if self._made is not None and self._made.try_cancel():
            self._end(tr("Cancelled; {cancelled_text}", cancelled_text=self._made.cancelled_text))

    def _go_on(self) -> None:
        made = self._made
        if made is None:
            return
        clock = QElapsedTimer()
        clock.start()
        try:
            done: int | None = next(self._steps, None)
            while done is not None and done >= 0 and not clock.hasExpired(SLICE_MS):
                done = next(self._steps, None)
        except Refused as refusal:
            self._end(str(refusal))
            return
        except BaseException:
            # An internal error is reported by its hook; end the job, or it recurs every turn.
            self._end(made.cancelled_text)
            raise
        if done is None:
            self._end(made.done_text)
        elif done >= 0:
            self._chip.show_share(done, len(made))
        self._turn.setInterval(WAIT_MS if done is not None and done < 0 else 0)

    def _end(self, words: str) -> None:
        self._turn.stop()
        self._made, self._steps = None, iter(())
        self._chip.end()
        self.busy_changed.emit()
        self.ended.emit(words)
