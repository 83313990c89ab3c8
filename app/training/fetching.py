"""A session file is read beside the interface, for it may be long."""

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
"""A file of so many bytes at most is read while one waits."""


@dataclass(frozen=True)
class Fetched:
    """What is in a session file. ``programs``: its modules.

    ``curves``: of each run, by name; ``ahead``: what they were before it went back.
    """

    room: KeptRoom
    curves: tuple[dict[str, Series], ...]
    ahead: tuple[dict[str, Series], ...]
    programs: str


def fetched(path: Path) -> Fetched:
    """Return what is in a session file. Any thread may ask. Raises `Refused`."""
    return made_of(kept.read(path))


def made_of(room: KeptRoom) -> Fetched:
    """Return a room with its curves to be drawn. Any thread may ask."""
    curves = tuple(_filled(run.curves) for run in room.runs)
    ahead = tuple(_filled(run.ahead) for run in room.runs)
    return Fetched(room, curves, ahead, room.programs())


def _filled(curves: dict[str, kept.KeptCurve]) -> dict[str, Series]:
    made = {name: new_curve(name) for name in curves}
    for name, curve in curves.items():
        kept.put_curve(made[name], curve)
    return made


class Fetching(QObject):
    """Reads one file at a time; a later one is read in place of the one before."""

    said = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._beside = Beside(self)

    def fetch(self, path: Path, then: Callable[[Fetched], None]) -> None:
        """Call ``then`` with what is in the file: at once, or when it is read.

        Raises:
            Refused: a short file cannot be read, or is no session. Of a long one that is said.
        """
        self._beside.forget()
        if _size(path) <= INLINE:
            then(fetched(path))
            return
        self._beside.ask(lambda: fetched(path), lambda found: self._take(path, found, then))
        self.said.emit(f"Reading {path.name}…")

    def _take(
        self, path: Path, found: Callable[[], Fetched], then: Callable[[Fetched], None]
    ) -> None:
        try:
            then(found())
        except Refused as refusal:
            self.said.emit(str(refusal))
        except MemoryError:
            self.said.emit(f"{path.name} takes more memory than there is")

    def close(self) -> None:
        """Want nothing more, and wait for the worker."""
        self._beside.close()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        # To be refused with the words that fit.
        return 0
