"""Files that are long on their way to the disk, written beside the interface."""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app import documents
from app.beside import Beside
from app.documents import Refused


class Writing(QObject):
    """Writes one file after the other, each wholly or not at all."""

    said = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._beside = Beside(self)
        self._is_well = True

    @property
    def is_busy(self) -> bool:
        """Whether something is on its way to the disk."""
        return self._beside.is_busy

    def write(
        self, path: Path, make: Callable[[], Sequence[bytes]], then: Callable[[], None]
    ) -> None:
        """Write what ``make`` returns to ``path``; ``then`` is called here once it is there.

        Where it cannot be written, or ``make`` raises `Refused`, that is said instead, and the file
        is as it was. ``make`` is called in another thread.
        """

        def written() -> None:
            documents.write_bytes(path, make())

        self._beside.ask(written, lambda done: self._take(path, done, then))

    def _take(self, path: Path, done: Callable[[], None], then: Callable[[], None]) -> None:
        try:
            done()
        except Refused as refusal:
            self._is_well = False
            self.said.emit(str(refusal))
        except MemoryError:
            self._is_well = False
            self.said.emit(f"{path.name} takes more memory than there is, and was not written")
        else:
            then()

    def finish(self) -> bool:
        """Wait until everything is on the disk; False where something is not, which was said."""
        self._is_well = True
        self._beside.finish()
        return self._is_well
