"""Files that the window has read: the engine itself may be confined, or on another machine."""

import builtins
import io
from typing import IO, cast

from engine.training.asks import Sample
from engine.zoo.sampled import SampledBytes, SampledText

MOST = 4
"""So many files are kept, the latest."""

Files = dict[str, tuple[bytes, Sample | None] | str]
_files: Files = {}


def give(path: str, data: bytes, problem: str = "", sample: Sample | None = None) -> None:
    """Keep what is in the file ``path``, or some of its lines, or why it cannot be read."""
    _files.pop(path, None)
    _files[path] = problem or (data, sample)
    while len(_files) > MOST:
        del _files[next(iter(_files))]


def held(path: str, files: Files) -> bytes:
    """Return what was given of a file; nothing where none was, or it could not be read."""
    data = files.get(path, b"")
    return data if isinstance(data, bytes) else b""


def files() -> Files:
    """Return all that is given now: a run reads no other, whatever is given after it began."""
    return dict(_files)


def open_given(
    path: str,
    mode: str = "r",
    newline: str | None = None,
    encoding: str | None = None,
    files: Files | None = None,
) -> IO[str] | IO[bytes]:
    """Open a file as `open` does, but one that was given (``files``, or the latest) in memory.

    Raises:
        OSError: it cannot be read; with the words that were given.
    """
    found = (_files if files is None else files).get(str(path))
    if found is None:
        return builtins.open(path, mode, newline=newline, encoding=encoding)
    if isinstance(found, str):
        raise OSError(found)
    data, sample = found
    if sample is not None and "b" in mode:
        return cast("IO[bytes]", SampledBytes(sample))
    if sample is not None:
        return cast("IO[str]", SampledText(data, sample, encoding or "utf-8"))
    raw = io.BytesIO(data)
    return raw if "b" in mode else io.TextIOWrapper(raw, encoding=encoding, newline=newline)


def lines(path: str) -> int:
    """Return how many line ends are in a file. Raises OSError."""
    with cast("IO[bytes]", open_given(path, "rb")) as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
