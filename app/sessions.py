"""The folder of session files: one for each window, and those that ended windows left behind.

Each file has a lock that its window holds. A lock that nobody alive holds tells of a window that
did not end by itself.
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

from app import atomic, documents, kept
from app.envelope import Damaged, Newer

BEFORE, LOCK = ".before", ".lock"
MOST_LOCK = 1 << 16
"""A lock has some lines: a process and its machine."""


class Work(Protocol):
    """What a session file holds: a msgspec struct that tells when it was kept."""

    @property
    def when(self) -> float:
        """Seconds since 1970."""


W = TypeVar("W", bound=Work)


@dataclass(frozen=True)
class Form(Generic[W]):
    """How one kind of work is kept, in files that end in ``ending``."""

    ending: str
    encode: Callable[[W], bytes | Sequence[bytes]]
    """May raise OSError."""
    read: Callable[[Path], W]
    """Raises OSError, `Damaged`, `Newer`."""


PROGRAM = Form(".session", kept.encode, kept.read)


class Slot(Generic[W]):
    """One session file and the lock on it."""

    def __init__(self, path: Path, form: Form[W]) -> None:
        self.path, self._form = path, form
        self.before = path.with_name(path.name + BEFORE)
        """The file as it was one save earlier: there should the disk spoil the newest."""
        self._lock = lock_at(path.with_name(path.name + LOCK))

    def claim(self) -> bool:
        """Hold the file for this process; False where another one holds it, or nobody can."""
        return take(self._lock)

    def save(self, what: W, *, sync: bool = True) -> None:
        """Have ``what`` safely on the disk when this returns. Any thread may do it, one at a time.

        Without ``sync`` it is safe from a kill only, until `atomic.sync_file` has been called.

        Raises:
            OSError: it cannot be written; what was saved before is still there.
        """
        data = self._form.encode(what)
        # Somebody may have tidied up meanwhile.
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            self.path.replace(self.before)
        after = documents.newest(self.path.parent)
        atomic.write(self.path, data, sync=sync, after=after)

    def load(self) -> W:
        """Return what was saved last, or one save earlier where that is spoilt.

        Raises:
            OSError: nothing can be read.
            Damaged: neither file is as it was written.
            Newer: a later version wrote it.
        """
        try:
            return self._form.read(self.path)
        except (OSError, Damaged):
            try:
                return self._form.read(self.before)
            except FileNotFoundError:
                pass
            raise

    @property
    def order(self) -> int:
        """A number that grows from each work that is kept to the next; 0 where there is none."""
        return atomic.written_at(self.path, self.before)

    @property
    def size(self) -> int:
        """How many bytes were saved last; 0 where nobody knows."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def drop(self) -> None:
        """Forget what was saved and let go of the lock."""
        for path in (self.path, self.before):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
        self.release()

    def release(self) -> None:
        """Let go of the lock; what was saved stays."""
        self._lock.unlock()


@dataclass(frozen=True)
class Found(Generic[W]):
    """A window's work that was found, or why its file cannot be read."""

    slot: Slot[W]
    kept: W | None = None
    trouble: str = ""
    order: int = 0
    """The later it was kept, the greater, whatever the clock said."""


class Sessions(Generic[W]):
    """Session files of one form in a folder. ``where`` None keeps nothing."""

    def __init__(self, where: Path | None, form: Form[W]) -> None:
        self.where, self._form = where, form

    def begin(self) -> Slot[W] | None:
        """Return a file for a new window; None where nothing can be kept."""
        if self.where is None:
            return None
        try:
            self.where.mkdir(parents=True, exist_ok=True)
        except OSError:
            return None
        slot = self._new()
        return slot if slot.claim() else None

    def _new(self) -> Slot[W]:
        assert self.where is not None
        name = f"{time.time_ns():x}-{os.getpid()}{self._form.ending}"
        return Slot(self.where / name, self._form)

    def leave(self, what: W, *, sync: bool = True) -> Slot[W] | None:
        """Keep the work of a window that has none any more, to be offered at the next start.

        Returns its file, None where nothing can be kept. Without ``sync`` see `Slot.save`.

        Raises:
            OSError: it cannot be written.
        """
        if self.where is None:
            return None
        # Nobody need hold it: it is whole as soon as it is there.
        slot = self._new()
        slot.save(what, sync=sync)
        return slot

    def found(self) -> list[Found[W]]:
        """Claim what windows left that did not end by themselves, and read it, the latest first."""
        return self.read(self.claimed())

    def claimed(self) -> list[Slot[W]]:
        """Claim what windows left that did not end by themselves."""
        if self.where is None:
            return []
        try:
            names = {_stem(path, self._form.ending) for path in self.where.iterdir()} - {""}
        except OSError:
            return []
        slots = [Slot(self.where / name, self._form) for name in names]
        return [slot for slot in slots if slot.claim()]

    def read(self, claimed: Sequence[Slot[W]]) -> list[Found[W]]:
        """Read what was claimed, the latest first. Any thread may.

        A file that cannot be read any more is set aside under a name that ends in ``.bak``; one of
        a later version stays as it is.
        """
        found = [one for slot in claimed if (one := _look(slot)) is not None]
        return sorted(found, key=lambda one: one.order, reverse=True)

    def lock(self, name: str) -> QLockFile | None:
        """Return a lock of that name, not held yet; None where nothing can be kept."""
        if self.where is None:
            return None
        folder = self.where.with_name("locks")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return None
        return lock_at(folder / f"{name}{LOCK}")


def lock_at(path: Path) -> QLockFile:
    """Return a lock that holds for as long as its process lives, however long that is."""
    lock = QLockFile(str(path))
    lock.setStaleLockTime(0)
    return lock


def take(lock: QLockFile) -> bool:
    """Take a lock unless somebody alive holds it; returns whether it is held by us then."""
    _clear(Path(lock.fileName()))
    if lock.tryLock(0):
        return True
    # In a sandbox every window may have the same number: Qt then takes one that was killed for us.
    told = lock.getLockInfo()
    is_ours = isinstance(told, tuple) and os.getpid() in told
    # The system itself knows whether it is held: a file that is stays where it is.
    return is_ours and lock.removeStaleLockFile() and lock.tryLock(0)


def _clear(path: Path) -> None:
    """Remove what stands in the place of a lock and is none: Qt would read it to its end."""
    with contextlib.suppress(OSError):
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_LOCK:
            path.unlink()


def _stem(path: Path, own: str) -> str:
    """Return the name of the session file that ``path`` belongs to; empty for none."""
    # A lock may be all there is, of a window that was killed before it had anything to keep.
    for more in ("", BEFORE, LOCK):
        if path.name.endswith(own + more) and not path.name.startswith("."):
            return path.name.removesuffix(more)
    return ""


def _look(slot: Slot[W]) -> Found[W] | None:
    for part in slot.path.parent.glob(f".{slot.path.name}*.part"):
        part.unlink(missing_ok=True)
    try:
        return Found(slot, slot.load(), order=slot.order)
    except Newer as error:
        slot.release()
        return Found(
            slot, None, f"Unsaved work of a newer Gradscribe: {error}. {slot.path} stays as it is"
        )
    except Damaged as error:
        trouble = f"Unsaved work cannot be read: {error}"
    except FileNotFoundError:
        slot.release()
        return None
    except OSError as error:
        slot.release()
        return Found(slot, None, f"Unsaved work in {slot.path} cannot be read: {atomic.why(error)}")
    slot.release()
    try:
        left = [atomic.set_aside(path) for path in (slot.path, slot.before) if path.exists()]
    except OSError:
        left = [slot.path]
    return Found(slot, None, f"{trouble}. It is kept as {' and '.join(map(str, left))}")


def same(one: W, other: W) -> bool:
    """Return whether the same work was kept, whenever that was."""
    assert isinstance(one, msgspec.Struct)
    return bool(msgspec.structs.replace(one, when=other.when) == other)
