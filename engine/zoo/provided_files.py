"""Files provided by the window: the engine may be confined, or on another machine."""

import builtins
import io
from typing import IO, cast

from gradscribe.engine.protocol.training.requests import LineSample
from gradscribe.engine.zoo.sampled_file import SampledBytes, SampledText

MOST = 4
"""Maximum number of stored files; the oldest is dropped."""

ProvidedFiles = dict[str, tuple[bytes, LineSample | None] | str]
_files: ProvidedFiles = {}


def provide(path: str, data: bytes, problem: str = "", sample: LineSample | None = None) -> None:
    """Store the contents of the file ``path``, a sample of its lines, or why it cannot be read."""
    _files.pop(path, None)
    _files[path] = problem or (data, sample)
    while len(_files) > MOST:
        del _files[next(iter(_files))]


def provided_bytes(path: str, files: ProvidedFiles) -> bytes:
    """Return the contents of a file if it was provided whole, else empty bytes."""
    data = files.get(path, b"")
    return data if isinstance(data, bytes) else b""


def stored_file(
    path: str, files: ProvidedFiles | None = None
) -> tuple[bytes, LineSample | None] | None:
    """Return the contents of a provided file, or of a sample of its lines; None if it was not.

    Raises:
        OSError: it cannot be read; with the provided message.
    """
    stored = (_files if files is None else files).get(str(path))
    if isinstance(stored, str):
        raise OSError(stored)
    return stored


def provided_files() -> ProvidedFiles:
    """Return a snapshot of all provided files, so that later ones do not affect a run."""
    return dict(_files)


def open_provided(
    path: str,
    mode: str = "r",
    newline: str | None = None,
    encoding: str | None = None,
    files: ProvidedFiles | None = None,
) -> IO[str] | IO[bytes]:
    """Open a file like `open`, but a provided one (or the latest) from memory.

    Raises:
        OSError: it cannot be read; with the provided message.
    """
    stored = stored_file(path, files)
    if stored is None:
        return builtins.open(path, mode, newline=newline, encoding=encoding)
    data, sample = stored
    if sample is not None and "b" in mode:
        return cast("IO[bytes]", SampledBytes(sample))
    if sample is not None:
        return cast(
            "IO[str]", SampledText(data, sample, "utf-8" if sample.recoded else encoding or "utf-8")
        )
    raw = io.BytesIO(data)
    return raw if "b" in mode else io.TextIOWrapper(raw, encoding=encoding, newline=newline)


def count_line_ends(path: str, files: ProvidedFiles | None = None) -> int:
    """Return the number of line ends in a file. Raises OSError."""
    with cast("IO[bytes]", open_provided(path, "rb", files=files)) as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
