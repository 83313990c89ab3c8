"""The data files that a request needs: the confined engine cannot open them by itself."""

from pathlib import Path

from msgspec import Struct

from engine.setup import Setup
from engine.training import Alter, LookIntoFile, Resume, Train, TrainRequest
from engine.zoo.given import MOST

ROWS = 20_000
"""Default for the most rows of a table that are trained on."""

Stamp = tuple[str, int, int]


class Need(Struct, frozen=True):
    """A file that a request needs, and the most rows of it."""

    path: str
    rows: int = ROWS


def named_in(setup: Setup) -> str:
    """Return the path of a setup's data file; empty for none."""
    found = setup.data.options.get("path", "")
    return found if setup.data.name == "csv" and isinstance(found, str) else ""


def rows_in(setup: Setup) -> int:
    """Return the most rows of its file that a setup trains on."""
    found = setup.data.options.get("limit", ROWS)
    return max(1, found) if isinstance(found, int) else ROWS


def file_of(setup: Setup) -> tuple[str, int]:
    """Return the path of a setup's data file, and the most rows of it."""
    return named_in(setup), rows_in(setup)


def needed(message: TrainRequest) -> Need | None:
    """Return the file that the engine must have for a request, or None."""
    match message:
        case Train() | Alter() if named_in(message.setup):
            return Need(named_in(message.setup), rows_in(message.setup))
        case LookIntoFile() if message.path:
            return Need(message.path, 0)
        case Resume() if message.path:
            return Need(message.path, message.rows)
    return None


def stamp(path: str) -> Stamp:
    """Return path, size and modification time of a file; zeros if it does not exist."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return path, 0, 0
    return path, found.st_size, found.st_mtime_ns


class Given:
    """The files that were sent to an engine."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[Stamp, int]] = {}

    def note(self, path: str, what: Stamp, rows: int) -> None:
        """Note that the engine has a file; ``rows``: limit of a sample, 0 for the whole file."""
        self._files.pop(path, None)
        self._files[path] = (what, rows)
        while len(self._files) > MOST:
            del self._files[next(iter(self._files))]

    def forget(self, path: str) -> None:
        """Have this file sent again."""
        self._files.pop(path, None)

    def has(self, need: Need) -> bool:
        """Return whether the engine has the current file, or the sample of it that is needed."""
        what, rows = self._files.get(need.path, (("", -1, -1), 0))
        return what == stamp(need.path) and (not rows or not need.rows or rows == need.rows)
