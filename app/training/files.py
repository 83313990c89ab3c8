"""Files of data, read for an engine that may read none."""

from pathlib import Path

from engine.setup import Setup
from engine.training import Alter, GiveFile, LookIntoFile, Resume, Train, TrainRequest
from engine.zoo.given import MOST

LIMIT = 256 << 20


def named_in(setup: Setup) -> str:
    """Return the file that a setup's data is in; empty for none."""
    found = setup.data.options.get("path", "")
    return found if setup.data.name == "csv" and isinstance(found, str) else ""


def given(path: str) -> GiveFile:
    """Return what is in a file, or why it cannot be read."""
    try:
        size = Path(path).stat().st_size
        if size > LIMIT:
            return GiveFile(0, path, problem=f"it has more than {LIMIT >> 20} MB")
        return GiveFile(0, path, Path(path).read_bytes())
    except FileNotFoundError:
        return GiveFile(0, path, problem="there is no such file")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        return GiveFile(0, path, problem=why.lower())


def stamp(path: str) -> tuple[str, int, int]:
    """Return what tells a file from what it was: its path, size and time; zeros for none."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return path, 0, 0
    return path, found.st_size, found.st_mtime_ns


class Giver:
    """Knows what one engine has been given already."""

    def __init__(self) -> None:
        self._stamps: dict[str, tuple[str, int, int]] = {}

    def before(self, message: TrainRequest) -> GiveFile | None:
        """Return the file that an engine must have before it takes ``message``, if it has not."""
        match message:
            case Train() | Alter():
                path = named_in(message.setup)
            case LookIntoFile() | Resume():
                path = message.path
            case _:
                path = ""
        now = stamp(path)
        if not path or self._stamps.get(path) == now:
            return None
        self._stamps.pop(path, None)
        self._stamps[path] = now
        while len(self._stamps) > MOST:
            del self._stamps[next(iter(self._stamps))]
        return given(path)
