"""The folder of session files: one per open window, and those of crashed windows.

Each file has a lock, held by its window. A file whose lock is free belongs to a window that did
not close properly.
"""

import contextlib
import os
import stat
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import msgspec
from PySide6.QtCore import QLockFile

from gradscribe.app.files import atomic, documents, session_file
from gradscribe.app.files.checksummed import DamagedFile, NewerVersion
from gradscribe.playback.translation import tr

BEFORE, LOCK = ".before", ".lock"
MAX_LOCK_BYTES = 1 << 16
"""Most bytes of a lock file, which has some lines: process id, host name and the like."""


class SavedWork(Protocol):
    """Content of a session file: a msgspec struct with the time of saving."""

    @property
    def when(self) -> float:
        """Seconds since 1970."""


W = TypeVar("W", bound=SavedWork)


@dataclass(frozen=True)
class SessionFormat(Generic[W]):
    """File format of one kind of work; its files have the suffix ``ending``."""

    ending: str
    encode: Callable[[W], bytes | Sequence[bytes]]
    """May raise OSError."""
    read: Callable[[Path], W]
    """Raises OSError, `DamagedFile`, `NewerVersion`."""


PROGRAM_FORMAT = SessionFormat(".session", session_file.encode, session_file.read)


class SessionSlot(Generic[W]):
    """One session file and the lock on it."""

    def __init__(self, path: Path, form: SessionFormat[W]) -> None:
        self.path, self._form = path, form
        self.before = path.with_name(path.name + BEFORE)
        """Backup of the previous save, in case the latest file is damaged."""
        self._lock = lock_at(path.with_name(path.name + LOCK))

    def claim(self) -> bool:
        """Lock the file for this process; False if another process holds it or locking fails."""
        return try_lock(self._lock)

    def save(self, what: W, *, sync: bool = True) -> None:
        """Write ``what`` to the disk and sync. Any thread may call this, one at a time.

        Without ``sync`` it survives a kill, but not a power cut until `atomic.sync_file` is called.

        Raises:
            OSError: the write failed; the previous save is intact.
        """
        data = self._form.encode(what)
        # The user may have deleted the folder meanwhile.
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            self.path.replace(self.before)
        after = documents.latest_mtime(self.path.parent)
        atomic.write(self.path, data, sync=sync, after=after)

    def load(self) -> W:
        """Return the latest save, or the previous one if that is damaged.

        Raises:
            OSError: neither file can be read.
            Damaged: both files are damaged.
            Newer: a later version wrote it.
        """
        try:
            return self._form.read(self.path)
        except (OSError, DamagedFile):
            try:
                return self._form.read(self.before)
            except FileNotFoundError:
                pass
            raise

    @property
    def order(self) -> int:
        """Sort key that grows with each save; 0 if there is none."""
        return atomic.mtime_of(self.path, self.before)

    @property
    def size(self) -> int:
        """Bytes of the latest save; 0 if unknown."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def drop(self) -> None:
        """Delete the files and release the lock."""
        for path in (self.path, self.before):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
        self.release()

    def release(self) -> None:
        """Release the lock; the files stay."""
        self._lock.unlock()


@dataclass(frozen=True)
class RecoveredWork(Generic[W]):
    """The work of a crashed window, or the reason why its file cannot be read."""

    slot: SessionSlot[W]
    kept: W | None = None
    trouble: str = ""
    order: int = 0
    """Sort key that is greater for later work, whatever the clock said."""


class Sessions(Generic[W]):
    """Session files of one format in a folder; nothing is stored if ``where`` is None."""

    def __init__(self, where: Path | None, form: SessionFormat[W]) -> None:
        self.where, self._form = where, form

    def begin(self) -> SessionSlot[W] | None:
        """Return a locked session file for a new window; None if none can be created."""
        if self.where is None:
            return None
        try:
            self.where.mkdir(parents=True, exist_ok=True)
        except OSError:
            return None
        slot = self._new()
        return slot if slot.claim() else None

    def _new(self) -> SessionSlot[W]:
        assert self.where is not None
        name = f"{time.time_ns():x}-{os.getpid()}{self._form.ending}"
        return SessionSlot(self.where / name, self._form)

    def leave(self, what: W, *, sync: bool = True) -> SessionSlot[W] | None:
        """Store work in an unlocked file, to be offered at the next start.

        Returns its file, None if nothing can be stored. Without ``sync`` see `SessionSlot.save`.

        Raises:
            OSError: it cannot be written.
        """
        if self.where is None:
            return None
        # No lock: the file is written atomically and not changed any more.
        slot = self._new()
        slot.save(what, sync=sync)
        return slot

    def found(self) -> list[RecoveredWork[W]]:
        """Lock and read the work of crashed windows, the latest first."""
        return self.read(self.lock_abandoned())

    def lock_abandoned(self) -> list[SessionSlot[W]]:
        """Lock the session files of crashed windows."""
        if self.where is None:
            return []
        try:
            names = {_stem(path, self._form.ending) for path in self.where.iterdir()} - {""}
        except OSError:
            return []
        slots = [SessionSlot(self.where / name, self._form) for name in names]
        return [slot for slot in slots if slot.claim()]

    def read(self, claimed: Sequence[SessionSlot[W]]) -> list[RecoveredWork[W]]:
        """Read locked session files, the latest first. Thread-safe.

        A damaged file is renamed to ``.bak``; one of a later version stays as it is.
        """
        found = [work for slot in claimed if (work := _look(slot)) is not None]
        return sorted(found, key=lambda work: work.order, reverse=True)

    def lock(self, name: str) -> QLockFile | None:
        """Return a lock of that name, not locked yet; None if there is no folder for it."""
        if self.where is None:
            return None
        folder = self.where.with_name("locks")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return None
        return lock_at(folder / f"{name}{LOCK}")


def lock_at(path: Path) -> QLockFile:
    """Return a lock without expiry: it is stale only if its process has ended."""
    lock = QLockFile(str(path))
    lock.setStaleLockTime(0)
    return lock


def try_lock(lock: QLockFile) -> bool:
    """Take a lock unless a live process holds it; return whether this process holds it then."""
    _clear(Path(lock.fileName()))
    if lock.tryLock(0):
        return True
    # In a sandbox every window may have the same process id: Qt then takes the stale lock of a
    # killed process for this one's.
    info = lock.getLockInfo()
    is_ours = isinstance(info, tuple) and os.getpid() in info
    # The system's own file lock decides: removeStaleLockFile fails while it is held.
    return is_ours and lock.removeStaleLockFile() and lock.tryLock(0)


def _clear(path: Path) -> None:
    """Remove an oversized or special file in the place of a lock: Qt would read it to its end."""
    with contextlib.suppress(OSError):
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_LOCK_BYTES:
            path.unlink()


def _stem(path: Path, own: str) -> str:
    """Return the name of the session file that ``path`` belongs to; empty if there is none."""
    # There may be only a lock, of a window that was killed before its first save.
    for more in ("", BEFORE, LOCK):
        if path.name.endswith(own + more) and not path.name.startswith("."):
            return path.name.removesuffix(more)
    return ""


def _look(slot: SessionSlot[W]) -> RecoveredWork[W] | None:
    for part in slot.path.parent.glob(f".{slot.path.name}*.part"):
        part.unlink(missing_ok=True)
    try:
        return RecoveredWork(slot, slot.load(), order=slot.order)
    except NewerVersion as error:
        slot.release()
        return RecoveredWork(
            slot,
            None,
            tr(
                "Unsaved work of a newer Gradscribe: {error}. {path} stays as it is",
                error=error,
                path=slot.path,
            ),
        )
    except DamagedFile as error:
        trouble = tr("Unsaved work cannot be read: {error}", error=error)
    except FileNotFoundError:
        slot.release()
        return None
    except OSError as error:
        slot.release()
        return RecoveredWork(
            slot,
            None,
            tr(
                "Unsaved work in {path} cannot be read: {reason}",
                path=slot.path,
                reason=atomic.reason(error),
            ),
        )
    slot.release()
    try:
        left = [atomic.rename_to_backup(path) for path in (slot.path, slot.before) if path.exists()]
    except OSError:
        left = [slot.path]
    return RecoveredWork(
        slot,
        None,
        tr(
            "{trouble}. It is kept as {join}",
            trouble=trouble,
            join=tr(" and ").join(map(str, left)),
        ),
    )


def is_same_work(one: W, other: W) -> bool:
    """Return whether two saves are equal but for their time."""
    assert isinstance(one, msgspec.Struct)
    return bool(msgspec.structs.replace(one, when=other.when) == other)
