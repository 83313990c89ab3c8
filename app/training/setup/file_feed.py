"""Delivery of data files to an engine: long ones are read in a worker thread."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from gradscribe.app.runtime.worker import BackgroundTask, BackgroundWorker
from gradscribe.app.training.setup import csv_sample
from gradscribe.app.training.setup.files import (
    DEFAULT_ROWS,
    FileNeed,
    FileStamp,
    SentFiles,
    file_stamp,
    needed_file,
)
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.training import TrainRequest
from gradscribe.playback.translation import tr

MOST_IN_GUI_THREAD = 1 << 20
"""Largest file in bytes that is read in the GUI thread."""
STOPPED = tr("reading it was stopped")


class ReadingStopped(Exception):
    """The file is not wanted any more."""


class FileFeed(QObject):
    """Sends the file that a request needs ahead of it. Requests that need none are not delayed."""

    passed = Signal(object)
    """A message for the engine."""
    progressed = Signal(str, float)
    """(path, share that is read); 1 when it is over."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.stopping = False
        """True if the file that is being read is not wanted any more."""
        self._given = SentFiles()
        self._need: FileNeed | None = None
        self._stamp: FileStamp = ("", 0, 0)
        self._held: list[TrainRequest] = []
        self._worker = BackgroundWorker(self)

    def take(self, message: TrainRequest) -> None:
        """Pass a request on once the engine has the file that it needs."""
        need = needed_file(message)
        self._supersede(message, need)
        if self._need is not None and self._is_behind(message, need):
            self._held.append(message)
        elif need is None or self._given.has(need):
            self.passed.emit(message)
        elif self._need is not None or not self._give_at_once(need):
            self._held.append(message)
            if self._need is None:
                self._start(need)
        else:
            self.passed.emit(message)

    def _supersede(self, message: TrainRequest, need: FileNeed | None) -> None:
        """Drop queued requests that ``message`` replaces, and stop a file without requests."""
        if not isinstance(message, messages.ChangeSetup | messages.InspectFile | messages.DropRun):
            return
        gone = (
            (messages.ChangeSetup, messages.Train, messages.ResumeRun)
            if isinstance(message, messages.DropRun)
            else message
        )
        kinds = gone if isinstance(gone, tuple) else (type(gone),)
        self._held = [
            queued
            for queued in self._held
            if not (isinstance(queued, kinds) and queued.run_id == message.run_id)
        ]
        paths = {
            wanted.path for wanted in (*map(needed_file, self._held), need) if wanted is not None
        }
        if self._need is not None and self._need.path not in paths:
            self.stop()

    def _is_behind(self, message: TrainRequest, need: FileNeed | None) -> bool:
        """Return whether a request must wait for the file being read, or for a run that does."""
        coming = {
            m.run_id for m in self._held if isinstance(m, messages.Train | messages.ResumeRun)
        }
        is_about_it = need is not None and self._need is not None and need.path == self._need.path
        return is_about_it or message.run_id in coming

    def _give_at_once(self, need: FileNeed) -> bool:
        now = file_stamp(need.path)
        try:
            if csv_sample.file_size(need.path) > MOST_IN_GUI_THREAD:
                return False
        except (OSError, ValueError):
            pass
        self._given.note(need.path, now, 0)
        self.passed.emit(csv_sample.read_file(need.path, need.rows or DEFAULT_ROWS))
        return True

    def _start(self, need: FileNeed) -> None:
        self.stopping = False
        self._need, self._stamp = need, file_stamp(need.path)
        self.progressed.emit(need.path, 0.0)
        self._worker.request(
            lambda task: self._read(need, task),
            lambda result: self._finish(need, result),
            lambda share: self.progressed.emit(need.path, min(share, 0.99)),
        )

    def _read(self, need: FileNeed, task: BackgroundTask) -> messages.ProvideFile:
        def report(share: float) -> None:
            if self.stopping:
                raise ReadingStopped
            task.report(share)

        return csv_sample.read_file(need.path, need.rows or DEFAULT_ROWS, report)

    def stop(self) -> None:
        """Stop reading; requests that wait for the file get an error."""
        self.stopping = True

    def forget(self) -> None:
        """Drop all files sent and requests queued: the engine is gone."""
        self._worker.cancel()
        self._given = SentFiles()
        self._held = []
        if self._need is not None:
            path, self._need = self._need.path, None
            self.progressed.emit(path, 1.0)

    def close(self) -> None:
        """Let the worker thread end."""
        self._held, self._need = [], None
        self._worker.close()

    def _finish(self, need: FileNeed, result: Callable[[], messages.ProvideFile]) -> None:
        file = messages.ProvideFile(0, need.path, problem=tr("it could not be read"))
        try:
            file = result()
        except ReadingStopped:
            file = messages.ProvideFile(0, need.path, problem=STOPPED)
        finally:
            self._deliver(need, file)

    def _deliver(self, need: FileNeed, file: messages.ProvideFile) -> None:
        self._need = None
        if file.problem == STOPPED:
            self._given.forget(need.path)
        else:
            rows = (need.rows or DEFAULT_ROWS) if file.sample is not None else 0
            self._given.note(need.path, self._stamp, rows)
        self.progressed.emit(need.path, 1.0)
        self.passed.emit(file)
        # Pass queued requests on even if the file changed again: it may change without end.
        held, self._held = self._held, []
        waits = set[int]()
        for message in held:
            is_for = needed_file(message)
            fits = is_for is None or (is_for.path == need.path and _suits(is_for, need, file))
            if fits and message.run_id not in waits:
                self.passed.emit(message)
            else:
                waits.add(message.run_id)
                self.take(message)


def _suits(wanted: FileNeed, read: FileNeed, file: messages.ProvideFile) -> bool:
    """Return whether the rows that were read are those that are wanted."""
    return file.sample is None or not wanted.rows or wanted.rows == (read.rows or DEFAULT_ROWS)
