"""Reading of session files in a worker thread, as they may be long."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.beside import Beside
from app.documents import Refused
from app.training import kept
from app.training.kept import KeptRoom
from app.training.state import new_curve
from widgets.plots.series import Series

INLINE = 1 << 18
"""Largest file in bytes that is read in the GUI thread."""


@dataclass(frozen=True)
class Fetched:
    """The contents of a session file. ``programs``: the source of its modules.

    ``curves``: of each run, by name; ``ahead``: the losses past the step it was rewound to.
    """

    room: KeptRoom
    curves: tuple[dict[str, Series], ...]
    ahead: tuple[dict[str, Series], ...]
    programs: str


def fetched(path: Path) -> Fetched:
    """Return the contents of a session file. Thread-safe. Raises `Refused`."""
    return made_of(kept.read(path))


def made_of(saved: KeptRoom) -> Fetched:
    """Return a saved session with its curves decoded. Thread-safe."""
    curves = tuple(_filled(run.curves) for run in saved.runs)
    ahead = tuple(_filled(run.ahead) for run in saved.runs)
    return Fetched(saved, curves, ahead, saved.programs())


def _filled(curves: dict[str, kept.KeptCurve]) -> dict[str, Series]:
    made = {name: new_curve(name) for name in curves}
    for name, curve in curves.items():
        kept.put_curve(made[name], curve)
    return made


class Fetching(QObject):
    """Reads one file at a time; a later request replaces an earlier one."""

    said = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = Beside(self)

    def fetch(self, path: Path, then: Callable[[Fetched], None]) -> None:
        """Call ``then`` with the contents of the file: at once, or when it is read.

        Raises:
            Refused: a short file cannot be read, or is no session. `said` reports it of a long one.
        """
        self._worker.forget()
        if _size(path) <= INLINE:
            then(fetched(path))
            return
        self._worker.ask(lambda: fetched(path), lambda found: self._on_read(path, found, then))
        self.said.emit(f"Reading {path.name}…")

    def _on_read(
        self, path: Path, found: Callable[[], Fetched], then: Callable[[Fetched], None]
    ) -> None:
        try:
            then(found())
        except Refused as refusal:
            self.said.emit(str(refusal))
        except MemoryError:
            self.said.emit(f"{path.name} takes more memory than there is")

    def close(self) -> None:
        """Cancel, and wait for the worker."""
        self._worker.close()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        # Let the reader refuse it with the right message.
        return 0
