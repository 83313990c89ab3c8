"""The shown run as a file with all its numbers, and a long one read back, as jobs of the queue."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from PySide6.QtCore import QElapsedTimer

from gradscribe.app.document.snapshot_source import SnapshotSource
from gradscribe.app.export.image_job import FileJob, run_in_thread
from gradscribe.app.export.queue import WAITING, ExportJob
from gradscribe.app.files import tape_files
from gradscribe.engine.protocol import messages, tape_file
from gradscribe.engine.protocol.check_replies import MAX_PEEKED
from gradscribe.engine.protocol.tape import Snapshot, Tape
from gradscribe.playback.translation import tr

T = TypeVar("T")

AT_ONCE = 32
"""Tensors asked for before the first of them has come."""
PATIENCE_MS = 20_000
"""Time without any answer after which the file is written without the rest of the numbers."""


class RunJob(FileJob):
    """A run as a file: big tensors are asked for one after another, then it is written.

    ``encode`` returns the file's bytes, given their numbers by index; see `RunFile`.
    """

    def __init__(
        self,
        path: Path,
        tape: Tape,
        encode: Callable[[Mapping[int, Snapshot]], Sequence[bytes]],
        numbers: SnapshotSource,
        written: Callable[[], None] = lambda: None,
    ) -> None:
        """Write to ``path``, and call ``written`` when that is done."""
        super().__init__(path, lambda: encode(self._big))
        self._wanted, left = tape_file.summarized(tape)
        self._count = len(self._wanted) + left
        self._numbers, self._run_id = numbers, numbers.run_id
        self._written = written
        self._big: dict[int, Snapshot] = {}
        self._waiting: set[int] = set()

    def __len__(self) -> int:
        """Return the number of tensors to ask for, and one for the file."""
        return len(self._wanted) + 1

    def steps(self) -> Iterator[int]:
        """Collect the numbers, then make the file and write it.

        Raises:
            Refused: the file cannot be written.
        """
        self._numbers.peeked.connect(self._take)
        try:
            yield from self._collect(self._numbers)
        finally:
            self._numbers.peeked.disconnect(self._take)
        if missing := self._count - len(self._big):
            self.done_text += tr(", with {left_out}", left_out=tape_files.left_out(missing))
        yield from super().steps()
        if self._is_written:
            self._written()

    def _collect(self, numbers: SnapshotSource) -> Iterator[int]:
        since = QElapsedTimer()
        since.start()
        waiting, wanted = self._waiting, list(reversed(self._wanted))
        # Of another run the same indices are other tensors.
        while (wanted or waiting) and numbers.run_id == self._run_id:
            before = len(waiting)
            while wanted and len(waiting) < AT_ONCE:
                at = wanted.pop()
                waiting.add(at)
                numbers.peek(at, MAX_PEEKED)
            if len(waiting) == before:
                if since.elapsed() > PATIENCE_MS:
                    return
                yield WAITING
            else:
                since.restart()
                yield len(self._wanted) - len(wanted) - len(waiting)

    def _take(self, answer: messages.Peeked) -> None:
        if answer.run_id != self._run_id or answer.snapshot not in self._waiting:
            return
        self._waiting.discard(answer.snapshot)
        if answer.full is not None and answer.full.data is not None:
            self._big[answer.snapshot] = answer.full


class OpenRunJob(ExportJob, Generic[T]):
    """A long file of a run: ``read`` reads it in a worker thread, then ``show`` shows it.

    ``show`` returns what to say.
    """

    verb = tr("Reading")

    def __init__(self, path: Path, read: Callable[[], T], show: Callable[[T], str]) -> None:
        super().__init__(path.name)
        self.busy_text = tr("{name} is still being read", name=path.name)
        self.cancelled_text = tr("{name} was not opened", name=path.name)
        self._read, self._show = read, show

    def __len__(self) -> int:
        """Return 1: the progress is unknown."""
        return 1

    def steps(self) -> Iterator[int]:
        """Read the file, then show the run.

        Raises:
            Refused: it cannot be read, or is no recorded run.
        """
        found = yield from run_in_thread(self._read)
        self.done_text = self._show(found)
