"""Autosave: write the window's work to disk within a second of every edit."""

from collections import deque
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QElapsedTimer, QObject, Signal

from gradscribe.app.files import atomic
from gradscribe.app.files.sessions import SavedWork, SessionSlot, is_same_work
from gradscribe.app.runtime.worker import BackgroundWorker
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.single_shot import single_shot

GAP_MS = 250
"""Least time between two saves; edits in between are saved together."""
VIEW_DELAY_MS = 2000
"""Longest delay before a change that is no edit, such as scrolling, is saved."""
RETRY_MS = 3000
"""Delay before a failed save is tried again."""


class Autosave(QObject):
    """Save what ``look`` returns to ``slot`` after each reported change."""

    written = Signal(str)
    """A save is over, with the error message; empty on success."""
    failed = Signal(str)
    """Saving fails, with the reason; emitted once until it works again."""
    recovered = Signal()
    """Saving works again."""

    def __init__(
        self, slot: SessionSlot[Any], look: Callable[[], SavedWork], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._slot, self._look = slot, look
        self._saved: SavedWork | None = None
        self.trouble = ""
        """Reason why the last save failed; empty if it did not."""
        self._firsts: deque[Callable[[], None]] = deque()
        self._thens: list[Callable[[], None]] = []
        self._since = QElapsedTimer()
        self._timer = single_shot(self, self._save)
        self._again = -1
        """Milliseconds from the end of the running save to the next; -1: none is needed."""
        self._worker = BackgroundWorker(self)

    @property
    def is_writing(self) -> bool:
        """True while a save is running."""
        return self._worker.is_busy

    def edited(self) -> None:
        """Save at once, or as soon as the last save is `GAP_MS` ago."""
        past = self._since.elapsed() if self._since.isValid() else GAP_MS
        self._within(RETRY_MS if self.trouble else max(0, GAP_MS - past))

    def view_changed(self, ms: int = VIEW_DELAY_MS) -> None:
        """Save within ``ms`` milliseconds."""
        self._within(ms)

    def first(self, call: Callable[[], None]) -> None:
        """Call ``call`` before the next save, in the thread that saves.

        An OSError that it raises is reported as a failure of that save.
        """
        self._firsts.append(call)

    def then(self, call: Callable[[], None]) -> None:
        """Save, and call ``call`` in this thread once the current work is safely on the disk."""
        self._thens.append(call)
        self.edited()

    def _call_firsts(self) -> None:
        while self._firsts:
            self._firsts.popleft()()

    def _call_thens(self) -> None:
        thens, self._thens = self._thens, []
        for call in thens:
            call()

    def _within(self, ms: int) -> None:
        if self.is_writing:
            self._again = ms if self._again < 0 else min(ms, self._again)
        elif not self._timer.isActive() or self._timer.remainingTime() > ms:
            self._timer.start(ms)

    def _is_saved(self, what: SavedWork) -> bool:
        return self._saved is not None and is_same_work(what, self._saved) and not self._firsts

    def _save(self) -> None:
        what = self._look()
        if self._is_saved(what):
            self._call_thens()
            return
        thens, self._thens = self._thens, []
        self._worker.submit(
            lambda: self.write(what), lambda result: self._take(what, thens, result)
        )

    def write(self, what: SavedWork) -> str:
        """Save ``what`` in this thread; return the error message, empty on success."""
        try:
            self._call_firsts()
            self._slot.save(what)
        except OSError as error:
            return atomic.reason(error)
        return ""

    def _take(
        self, what: SavedWork, thens: list[Callable[[], None]], result: Callable[[], str]
    ) -> None:
        """Note the end of a save; ``thens`` are called, or wait for the next one if it failed."""
        trouble = tr("of an error in Gradscribe")
        try:
            trouble = result()
        finally:
            self._since.start()
            if trouble:
                self._thens[:0] = thens
            else:
                self._saved = what
                for call in thens:
                    call()
            self._report(trouble)
            if trouble or self._again >= 0:
                self._timer.start(RETRY_MS if trouble else max(GAP_MS, self._again))
            self._again = -1
            self.written.emit(trouble)

    def _report(self, trouble: str) -> None:
        before, self.trouble = self.trouble, trouble
        if trouble and not before:
            self.failed.emit(trouble)
        elif before and not trouble:
            self.recovered.emit()

    def flush(self) -> str:
        """Save in this thread now; return the error message, empty on success."""
        self._finish()
        what = self._look()
        trouble = "" if self._is_saved(what) else self.write(what)
        if not trouble:
            self._saved = what
            self._call_thens()
        return trouble

    def settle(self) -> None:
        """Run the calls that wait for the next save in this thread, without a save.

        Raises:
            OSError: a call registered with `first` failed.
        """
        self._finish()
        self._call_firsts()
        self._call_thens()

    def _finish(self) -> None:
        """Wait for the running save; no other follows by itself."""
        self._worker.wait()
        self._timer.stop()

    def close(self) -> None:
        """Stop saving; wait for the running save."""
        self._timer.stop()
        self._worker.close()
