"""Which files an engine needs that may read none, and which of them it has."""

from pathlib import Path

from msgspec import Struct

from engine.setup import Setup
from engine.training import Alter, LookIntoFile, Resume, Train, TrainRequest
from engine.zoo.given import MOST

ROWS = 20_000
"""So many rows of a long table are trained on where nobody says otherwise."""

Stamp = tuple[str, int, int]


class Need(Struct, frozen=True):
    """A file that a request is about, and how many of its rows."""

    path: str
    rows: int = ROWS


def named_in(setup: Setup) -> str:
    """Return the file that a setup's data is in; empty for none."""
    found = setup.data.options.get("path", "")
    return found if setup.data.name == "csv" and isinstance(found, str) else ""


def rows_in(setup: Setup) -> int:
    """Return how many rows of its file a setup trains on at most."""
    found = setup.data.options.get("limit", ROWS)
    return max(1, found) if isinstance(found, int) else ROWS


def file_of(setup: Setup) -> tuple[str, int]:
    """Return the file that a setup's data is in, and how many of its rows."""
    return named_in(setup), rows_in(setup)


def needed(message: TrainRequest) -> Need | None:
    """Return the file that an engine must have for a request; None where there is none."""
    match message:
        case Train() | Alter() if named_in(message.setup):
            return Need(named_in(message.setup), rows_in(message.setup))
        case LookIntoFile() if message.path:
            return Need(message.path, 0)
        case Resume() if message.path:
            return Need(message.path, message.rows)
    return None


def stamp(path: str) -> Stamp:
    """Return what tells a file from what it was: its path, size and time; zeros for none."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return path, 0, 0
    return path, found.st_size, found.st_mtime_ns


class Given:
    """Knows what one engine has been given already."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[Stamp, int]] = {}

    def note(self, path: str, what: Stamp, rows: int) -> None:
        """Note that it has a file now; ``rows``: of a part of its lines, 0: all of them."""
        self._files.pop(path, None)
        self._files[path] = (what, rows)
        while len(self._files) > MOST:
            del self._files[next(iter(self._files))]

    def forget(self, path: str) -> None:
        """Have it given this file again."""
        self._files.pop(path, None)

    def has(self, need: Need) -> bool:
        """Whether the engine has the file as it is now, or the part of it that it needs."""
        what, rows = self._files.get(need.path, (("", -1, -1), 0))
        return what == stamp(need.path) and (not rows or not need.rows or rows == need.rows)
