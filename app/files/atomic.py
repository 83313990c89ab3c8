"""Atomic file writes: all or nothing, and synced to the disk before they return."""

import contextlib
import errno
import itertools
import os
import re
import stat
import time
from collections.abc import Sequence
from pathlib import Path

from gradscribe.playback.translation import tr

_WORDS = {
    errno.ENOSPC: tr("the disk is full"),
    errno.EDQUOT: tr("your disk quota is used up"),
    errno.EFBIG: tr("the file is too big for this disk"),
    errno.EROFS: tr("the disk is read-only"),
    errno.EACCES: tr("you may not write there"),
    errno.EPERM: tr("you may not write there"),
    errno.ENOENT: tr("its folder does not exist"),
    errno.ENOTDIR: tr("its folder does not exist"),
    errno.ENAMETOOLONG: tr("its name is too long"),
    errno.EIO: tr("the disk has failed"),
}
_NAME_BYTES = 200
PARTIAL_AGE_S = 60.0
"""Age of a ``.part`` file from which it counts as left by a killed process."""
TICK_NS = 1_000_000
"""Least step between the mtimes of two successive files, for when the clock was set back."""
_LOOKED_AT = 2_000
"""Most directory entries that are scanned, to bound the time: the user waits for it."""


def reason(error: OSError) -> str:
    """Return the reason of an OSError as a clause to be put into a sentence."""
    # Again, because the command line imports this before a window chooses the language.
    return tr(_WORDS.get(error.errno or 0, error.strerror or str(error)))


def write(path: Path, data: bytes | Sequence[bytes], *, sync: bool = True, after: int = 0) -> None:
    """Write ``data`` to ``path``; the old content stays until all of it is safely on the disk.

    ``data`` may be a sequence of pieces. Without ``sync`` the call does not wait for the disk, and
    a power cut may cost the file: keep the data elsewhere, too, until `sync_file` has been called.
    With a time ``after`` (nanoseconds), the file's mtime is later than that, whatever the clock
    says.
    Symbolic links are followed; permissions are preserved. A file with several hard links, or in a
    folder that takes no new files, is overwritten in place.

    Raises:
        OSError: the write failed, and the file is unchanged.
    """
    path = Path(os.path.realpath(path))
    pieces = [data] if isinstance(data, bytes) else data
    try:
        before = path.stat()
    except FileNotFoundError:
        _replace(path, pieces, None, sync, after)
        return
    if not stat.S_IMODE(before.st_mode) & 0o222:
        raise PermissionError(errno.EACCES, tr("it is read-only"), str(path))
    if not stat.S_ISREG(before.st_mode) or before.st_nlink > 1:
        _overwrite(path, pieces)
        return
    try:
        _replace(path, pieces, before, sync, after)
    except PermissionError:
        if not os.access(path, os.W_OK):
            raise
        _overwrite(path, pieces)


def remove_partial(folder: Path, pattern: str) -> None:
    """Remove stale partial files whose whole name matches the regular expression ``pattern``."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in itertools.islice(entries, _LOOKED_AT):
            if re.fullmatch(pattern, entry.name) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    if time.time() - entry.stat(follow_symlinks=False).st_mtime > PARTIAL_AGE_S:
                        os.unlink(entry)


def rename_to_backup(path: Path) -> Path:
    """Rename a file to a free name that ends in ``.bak``, and return the new path.

    Raises:
        OSError: the file cannot be renamed.
    """
    spare = backup_name(path)
    path.replace(spare)
    return spare


def backup_name(path: Path) -> Path:
    """Return a free name in the folder of ``path``: ``a.py.bak``, else ``a.py.2.bak`` and so on."""
    spare, count = path.with_name(f"{path.name}.bak"), 1
    while spare.exists():
        count += 1
        spare = path.with_name(f"{path.name}.{count}.bak")
    return spare


def sync_file(path: Path) -> None:
    """Flush a file and its directory entry to the disk; a missing file is ignored.

    Raises:
        OSError: the disk has failed.
    """
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        os.fsync(file.fileno())
    _sync_folder(path.parent)


def latest_mtime(*folders: Path) -> int:
    """Return the latest mtime (nanoseconds) of the files in these folders; 0 if there are none.

    Passed to `write` as ``after``, it makes a file newer than all of them even if the clock was
    set back.
    """
    found = 0
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in itertools.islice(entries, _LOOKED_AT):
                with contextlib.suppress(OSError):
                    found = max(found, entry.stat(follow_symlinks=False).st_mtime_ns)
    return found


def mtime_of(*paths: Path) -> int:
    """Return the latest mtime (nanoseconds) of these files; 0 if none exists."""
    found = 0
    for path in paths:
        with contextlib.suppress(OSError):
            found = max(found, path.stat().st_mtime_ns)
    return found


def _raise_mtime(path: Path, after: int) -> None:
    """Raise a file's mtime above ``after`` if it is not."""
    found = path.stat()
    if after and found.st_mtime_ns <= after:
        with contextlib.suppress(OSError, OverflowError):
            os.utime(path, ns=(found.st_atime_ns, after + TICK_NS))


def _replace(
    path: Path, pieces: Sequence[bytes], before: os.stat_result | None, sync: bool, after: int
) -> None:
    """Write a ``.part`` file in the same folder and rename it to ``path``."""
    name = os.fsdecode(os.fsencode(path.name)[:_NAME_BYTES])
    beside = path.with_name(f".{name}.{os.getpid()}.part")
    # A killed process that had this process id may have left a file of this name.
    beside.unlink(missing_ok=True)
    remove_partial(path.parent, rf"\.{re.escape(name)}\.\d+\.part")
    try:
        _fill(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), pieces, sync)
        if before is not None:
            _copy_attributes(beside, before)
        _raise_mtime(beside, after)
        beside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
    if sync:
        _sync_folder(path.parent)


def _copy_attributes(path: Path, before: os.stat_result) -> None:
    """Copy owner and permissions from the file that is about to be replaced."""
    if hasattr(os, "chown"):
        mine = path.stat()
        if (mine.st_uid, mine.st_gid) != (before.st_uid, before.st_gid):
            with contextlib.suppress(OSError):
                os.chown(path, before.st_uid, before.st_gid)
    path.chmod(stat.S_IMODE(before.st_mode))


def _overwrite(path: Path, pieces: Sequence[bytes]) -> None:
    """Overwrite a file in place; restore its old content if the write fails half way.

    The file is truncated only afterwards, so that restoring never needs more disk space.
    """
    old = path.read_bytes() if path.is_file() else b""
    try:
        _fill(os.open(path, os.O_WRONLY), pieces, sync=True)
    except OSError:
        with contextlib.suppress(OSError):
            _fill(os.open(path, os.O_WRONLY), [old], sync=True)
        raise


def _fill(descriptor: int, pieces: Sequence[bytes], sync: bool) -> None:
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        for piece in pieces:
            view = memoryview(piece)
            while view:
                view = view[file.write(view) :]
        # Pipes and devices can be neither truncated nor synced.
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.truncate(sum(map(len, pieces)))
            if sync:
                os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Flush the directory entry itself, too, where the system lets folders be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
