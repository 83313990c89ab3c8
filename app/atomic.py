"""Files that are written wholly or not at all, and are on the disk once that is said."""

import contextlib
import errno
import itertools
import os
import re
import stat
import time
from collections.abc import Sequence
from pathlib import Path

_WORDS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "there is no room left for you on the disk",
    errno.EFBIG: "the disk takes no file as big as this",
    errno.EROFS: "the disk can only be read",
    errno.EACCES: "you may not write there",
    errno.EPERM: "you may not write there",
    errno.ENOENT: "its folder does not exist",
    errno.ENOTDIR: "its folder does not exist",
    errno.ENAMETOOLONG: "its name is too long",
    errno.EIO: "the disk has failed",
}
_NAME_BYTES = 200
LEFT_S = 60.0
"""What is half written for so long was left by a process that was killed."""
TICK_NS = 1_000_000
"""So much later is a file than those before it, where the clock does not say so itself."""
_LOOKED_AT = 2_000
"""In a folder with more files the rest is not looked at: somebody waits for this."""


def why(error: OSError) -> str:
    """Return what went wrong, in the middle of a sentence."""
    return _WORDS.get(error.errno or 0, error.strerror or str(error))


def write(path: Path, data: bytes | Sequence[bytes], *, sync: bool = True, after: int = 0) -> None:
    """Write ``data`` to ``path``; what stood there stays until all of it is safely on the disk.

    It may come in pieces, to be written one after the other. Without ``sync`` nobody waits for the
    disk, and a power cut may cost the file: until `sync_file` has been called, the data must stand
    elsewhere, too. Where there is a time ``after`` (nanoseconds), the file's own is later, whatever
    the clock says.
    A link is followed; permissions stay as they are. A file with a second name, or in a folder that
    takes no new files, is written where it is.

    Raises:
        OSError: it cannot be done, and the file is as it was.
    """
    path = Path(os.path.realpath(path))
    pieces = [data] if isinstance(data, bytes) else data
    try:
        before = path.stat()
    except FileNotFoundError:
        _replace(path, pieces, None, sync, after)
        return
    if not stat.S_IMODE(before.st_mode) & 0o222:
        raise PermissionError(errno.EACCES, "it is read-only", str(path))
    if not stat.S_ISREG(before.st_mode) or before.st_nlink > 1:
        _overwrite(path, pieces)
        return
    try:
        _replace(path, pieces, before, sync, after)
    except PermissionError:
        if not os.access(path, os.W_OK):
            raise
        _overwrite(path, pieces)


def sweep(folder: Path, pattern: str) -> None:
    """Remove files of that name (a whole regular expression) that were left half written."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in itertools.islice(entries, _LOOKED_AT):
            if re.fullmatch(pattern, entry.name) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    if time.time() - entry.stat(follow_symlinks=False).st_mtime > LEFT_S:
                        os.unlink(entry)


def set_aside(path: Path) -> Path:
    """Move a file to a name of its own that ends in ``.bak``, and return that.

    Raises:
        OSError: it cannot be moved.
    """
    spare = spare_name(path)
    path.replace(spare)
    return spare


def spare_name(path: Path) -> Path:
    """Return a free name beside ``path``: ``a.py.bak``, else ``a.py.2.bak`` and so on."""
    spare, count = path.with_name(f"{path.name}.bak"), 1
    while spare.exists():
        count += 1
        spare = path.with_name(f"{path.name}.{count}.bak")
    return spare


def sync_file(path: Path) -> None:
    """Have a file and its name safely on the disk; one that is gone has nothing to be kept.

    Raises:
        OSError: the disk has failed.
    """
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        os.fsync(file.fileno())
    _sync_folder(path.parent)


def latest(*folders: Path) -> int:
    """Return the latest time (nanoseconds) of the files in these folders; 0 where there are none.

    What is written after it with `write` is told to be newer than all of them, though the clock may
    have been set back.
    """
    found = 0
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in itertools.islice(entries, _LOOKED_AT):
                with contextlib.suppress(OSError):
                    found = max(found, entry.stat(follow_symlinks=False).st_mtime_ns)
    return found


def written_at(*paths: Path) -> int:
    """Return the time (nanoseconds) of the file that was written last; 0 where there is none."""
    found = 0
    for path in paths:
        with contextlib.suppress(OSError):
            found = max(found, path.stat().st_mtime_ns)
    return found


def _put_after(path: Path, after: int) -> None:
    """Have a file's time later than ``after``."""
    found = path.stat()
    if after and found.st_mtime_ns <= after:
        with contextlib.suppress(OSError, OverflowError):
            os.utime(path, ns=(found.st_atime_ns, after + TICK_NS))


def _replace(
    path: Path, pieces: Sequence[bytes], before: os.stat_result | None, sync: bool, after: int
) -> None:
    """Write beside ``path`` and put that in its place."""
    name = os.fsdecode(os.fsencode(path.name)[:_NAME_BYTES])
    beside = path.with_name(f".{name}.{os.getpid()}.part")
    # One that a killed process with this number left is in nobody's way.
    beside.unlink(missing_ok=True)
    sweep(path.parent, rf"\.{re.escape(name)}\.\d+\.part")
    try:
        _fill(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), pieces, sync)
        if before is not None:
            _dress(beside, before)
        _put_after(beside, after)
        beside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
    if sync:
        _sync_folder(path.parent)


def _dress(path: Path, before: os.stat_result) -> None:
    """Give a file the owner and the permissions of the one it is to replace."""
    if hasattr(os, "chown"):
        mine = path.stat()
        if (mine.st_uid, mine.st_gid) != (before.st_uid, before.st_gid):
            with contextlib.suppress(OSError):
                os.chown(path, before.st_uid, before.st_gid)
    path.chmod(stat.S_IMODE(before.st_mode))


def _overwrite(path: Path, pieces: Sequence[bytes]) -> None:
    """Write into the file itself; should that fail half way, what it held is put back.

    It is cut only afterwards: what it held then never needs more room than the file has.
    """
    held = path.read_bytes() if path.is_file() else b""
    try:
        _fill(os.open(path, os.O_WRONLY), pieces, sync=True)
    except OSError:
        with contextlib.suppress(OSError):
            _fill(os.open(path, os.O_WRONLY), [held], sync=True)
        raise


def _fill(descriptor: int, pieces: Sequence[bytes], sync: bool) -> None:
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        for piece in pieces:
            view = memoryview(piece)
            while view:
                view = view[file.write(view) :]
        # A pipe or a device has no length and no disk under it.
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.truncate(sum(map(len, pieces)))
            if sync:
                os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Have the new name itself on the disk, too, where the system lets folders be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
