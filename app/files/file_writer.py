"""Write files in a worker thread."""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gradscribe.app.files import documents
from gradscribe.app.files.documents import Refused
from gradscribe.app.runtime.worker import BackgroundWorker
from gradscribe.playback.translation import tr


class FileWriter(QObject):
    """Writes files one after the other, each atomically, in a worker thread."""

    said = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = BackgroundWorker(self)
        self._is_well = True

    @property
    def is_busy(self) -> bool:
        """True while a file is being written."""
        return self._worker.is_busy

    def write(
        self, path: Path, make: Callable[[], Sequence[bytes]], then: Callable[[], None]
    ) -> None:
        """Write what ``make`` returns to ``path``; then call ``then`` in this thread.

        ``make`` is called in the worker thread. If it raises `Refused`, or the file cannot be
        written, `said` is emitted instead, and the file is unchanged.
        """

        def written() -> None:
            documents.write_bytes(path, make())

        self._worker.submit(written, lambda done: self._take(path, done, then))

    def _take(self, path: Path, done: Callable[[], None], then: Callable[[], None]) -> None:
        try:
            done()
        except Refused as refusal:
            self._is_well = False
            self.said.emit(str(refusal))
        except MemoryError:
            self._is_well = False
            self.said.emit(
                tr("{name} takes more memory than there is, and was not written", name=path.name)
            )
        else:
            then()

    def finish(self) -> bool:
        """Wait until everything is written; False if something failed, which was reported."""
        self._is_well = True
        self._worker.wait()
        return self._is_well
