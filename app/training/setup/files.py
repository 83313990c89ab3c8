"""The data files that a request needs: the confined engine cannot open them by itself."""

from pathlib import Path

from msgspec import Struct

from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.protocol.training import (
    ChangeSetup,
    InspectFile,
    ResumeRun,
    Train,
    TrainRequest,
)
from gradscribe.engine.zoo.provided_files import MOST

DEFAULT_ROWS = 20_000
"""Default for the most rows of a table that are trained on."""

FileStamp = tuple[str, int, int]


class FileNeed(Struct, frozen=True):
    """A file that a request needs, and the most rows of it."""

    path: str
    rows: int = DEFAULT_ROWS


def data_path(setup: Setup) -> str:
    """Return the path of a setup's data file; empty for none."""
    found = setup.data.options.get("path", "")
    return found if setup.data.name == "csv" and isinstance(found, str) else ""


def row_limit(setup: Setup) -> int:
    """Return the most rows of its file that a setup trains on."""
    found = setup.data.options.get("limit", DEFAULT_ROWS)
    return max(1, found) if isinstance(found, int) else DEFAULT_ROWS


def data_file(setup: Setup) -> tuple[str, int]:
    """Return the path of a setup's data file, and the most rows of it."""
    return data_path(setup), row_limit(setup)


def needed_file(message: TrainRequest) -> FileNeed | None:
    """Return the file that the engine must have for a request, or None."""
    match message:
        case Train() | ChangeSetup() if data_path(message.setup):
            return FileNeed(data_path(message.setup), row_limit(message.setup))
        case InspectFile() if message.path:
            return FileNeed(message.path, 0)
        case ResumeRun() if message.path:
            return FileNeed(message.path, message.rows)
    return None


def file_stamp(path: str) -> FileStamp:
    """Return path, size and modification time of a file; zeros if it does not exist."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return path, 0, 0
    return path, found.st_size, found.st_mtime_ns


class SentFiles:
    """The files that were sent to an engine."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[FileStamp, int]] = {}

    def note(self, path: str, what: FileStamp, rows: int) -> None:
        """Note that the engine has a file; ``rows``: limit of a sample, 0 for the whole file."""
        self._files.pop(path, None)
        self._files[path] = (what, rows)
        while len(self._files) > MOST:
            del self._files[next(iter(self._files))]

    def forget(self, path: str) -> None:
        """Have this file sent again."""
        self._files.pop(path, None)

    def has(self, need: FileNeed) -> bool:
        """Return whether the engine has the current file, or the sample of it that is needed."""
        what, rows = self._files.get(need.path, (("", -1, -1), 0))
        return what == file_stamp(need.path) and (not rows or not need.rows or rows == need.rows)
