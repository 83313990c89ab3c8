"""Files that the window has read: the engine itself may be confined, or on another machine."""

import builtins
import io
from typing import IO, cast

MOST = 4
"""So many files are kept, the latest."""

_files: dict[str, bytes | str] = {}


def give(path: str, data: bytes, problem: str = "") -> None:
    """Keep what is in the file ``path``, or why it cannot be read."""
    _files.pop(path, None)
    _files[path] = problem or data
    while len(_files) > MOST:
        del _files[next(iter(_files))]


def open_given(
    path: str, mode: str = "r", newline: str | None = None, encoding: str | None = None
) -> IO[str] | IO[bytes]:
    """Open a file as `open` does, but one that was given in memory.

    Raises:
        OSError: it cannot be read; with the words that were given.
    """
    data = _files.get(str(path))
    if data is None:
        return builtins.open(path, mode, newline=newline, encoding=encoding)
    if isinstance(data, str):
        raise OSError(data)
    raw = io.BytesIO(data)
    return raw if "b" in mode else io.TextIOWrapper(raw, encoding=encoding, newline=newline)


def lines(path: str) -> int:
    """Return how many line ends are in a file. Raises OSError."""
    with cast("IO[bytes]", open_given(path, "rb")) as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
