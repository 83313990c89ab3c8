"""The runs of each document on the disk, without their tapes: a file per document.

A run that is compared or gone back to runs again; its text, seed and device are enough for that.
"""

import contextlib
import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from gradscribe.app.files import atomic, checksummed, documents
from gradscribe.app.files.checksummed import DamagedFile, NewerVersion
from gradscribe.app.files.documents import Refused

MOST_BYTES = 2 << 20
"""Most characters of a document's texts that are stored; then the oldest runs go."""
MOST_READ = 16 << 20
"""Most bytes of a file that are read."""
MOST_FILES = 200
"""Most documents whose runs are stored; then those that ran longest ago go."""
ENDING = ".runs"

DocumentKey = tuple[str, str]
"""Path of a document and an empty text, or its lesson and its title."""


class RunEntry(Struct, frozen=True):
    """A run as it is stored; ``result`` is the text that the list of runs shows."""

    number: int
    source: str
    seed: int
    device: str
    result: str = ""
    failed: bool = False
    name: str = ""
    is_kept: bool = False


class DocumentRuns(Struct, frozen=True):
    """The runs of the document with this key, the latest last."""

    key: DocumentKey
    runs: tuple[RunEntry, ...] = ()


class RunHistories:
    """Files of runs in a folder; nothing is stored if ``where`` is None."""

    def __init__(self, where: Path | None) -> None:
        self.where = where

    def load(self, key: DocumentKey) -> tuple[RunEntry, ...]:
        """Return the stored runs of a document; none if there are none that can be read."""
        if self.where is None:
            return ()
        try:
            with documents.open_plain(self._path(key)) as file:
                payload = checksummed.unwrap(file.read(MOST_READ))
            found = msgspec.json.decode(payload, type=DocumentRuns)
        except (OSError, Refused, DamagedFile, NewerVersion, msgspec.MsgspecError, ValueError):
            return ()
        numbers = [run.number for run in found.runs]
        is_whole = found.key == key and numbers == sorted(set(numbers)) and min(numbers, default=1)
        return found.runs if is_whole and all(map(_is_plausible, found.runs)) else ()

    def save(self, key: DocumentKey, runs: Sequence[RunEntry]) -> None:
        """Store the runs of a document in place of those before.

        Raises:
            OSError: they cannot be written.
        """
        if self.where is None:
            return
        payload = msgspec.json.encode(
            DocumentRuns(_plain(key), tuple(map(_encodable, _bounded(runs))))
        )
        self.where.mkdir(parents=True, exist_ok=True)
        atomic.write(self._path(key), checksummed.wrap(payload), sync=False)
        self._drop_oldest()

    def _path(self, key: DocumentKey) -> Path:
        assert self.where is not None
        digest = hashlib.sha256("\0".join(_plain(key)).encode()).hexdigest()
        return self.where / f"{digest[:32]}{ENDING}"

    def _drop_oldest(self) -> None:
        assert self.where is not None
        found = sorted(self.where.glob(f"*{ENDING}"), key=atomic.mtime_of)
        for path in found[: max(0, len(found) - MOST_FILES)]:
            with contextlib.suppress(OSError):
                path.unlink()


def _bounded(runs: Sequence[RunEntry]) -> list[RunEntry]:
    """Return the latest runs within the limit; those that the user keeps or named go last."""
    spared = [run for run in runs if run.is_kept or run.name]
    others = [run for run in runs if not (run.is_kept or run.name)]
    left, taken = MOST_BYTES, []
    for run in (*spared[::-1], *others[::-1]):
        left -= len(run.source)
        if left < 0:
            break
        taken.append(run)
    return sorted(taken, key=lambda run: run.number)


def _is_plausible(run: RunEntry) -> bool:
    return run.number < 1 << 31 and -(1 << 63) <= run.seed < 1 << 63


def _plain(key: DocumentKey) -> DocumentKey:
    return _text(key[0]), _text(key[1])


def _encodable(run: RunEntry) -> RunEntry:
    texts = {name: _text(getattr(run, name)) for name in ("source", "result", "name")}
    return msgspec.structs.replace(run, **texts)


def _text(text: str) -> str:
    """Return a text without lone surrogates, which cannot be encoded."""
    return text.encode("utf-8", "replace").decode()
