"""Landlock: allow reading some files, and nothing else of the disk or the network.

Source: Linux, Documentation/userspace-api/landlock.rst. A ruleset applies to the calling thread and
to the threads and processes that it starts; so it is applied while there is only one thread.
"""

import ctypes
import os
import stat
from collections.abc import Iterable
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""System calls; the same on every architecture."""
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVS = 38

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
READ = READ_FILE | READ_DIR
USE_DEVICE = READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV
"""Rights over a device file that a device driver library needs."""
_FOR_FILES = EXECUTE | USE_DEVICE
_FILES_SINCE = {1: (1 << 13) - 1, 2: 1 << 13, 3: TRUNCATE, 5: IOCTL_DEV}
"""Rights over files added in each version of the interface."""
_TCP = 0b11
_OUTWARDS = 0b11
"""Abstract sockets of, and signals to, processes outside."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Return the version of the interface; 0 if the kernel has none or does not allow it."""
    try:
        return max(0, _call(_CREATE, None, 0, _VERSION_FLAG))
    except (OSError, AttributeError):
        return 0


def restrict(readable: Iterable[Path], used: Iterable[Path] = ()) -> None:
    """Give up all files but those beneath ``readable``, the network, and signals to others.

    ``used`` are device files that may also be written. Missing paths are skipped.

    Raises:
        OSError: the kernel refuses.
    """
    abi = version()
    handled = sum(bits for since, bits in _FILES_SINCE.items() if since <= abi)
    rules = _Ruleset(handled, _TCP if abi >= 4 else 0, _OUTWARDS if abi >= 6 else 0)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    ruleset = _call(_CREATE, ctypes.byref(rules), size, 0)
    try:
        for rights, paths in ((READ, readable), (USE_DEVICE, used)):
            for path in paths:
                _allow(ruleset, path, rights & handled)
        if _libc().prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "PR_SET_NO_NEW_PRIVS")
        _call(_RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(parent).st_mode):
            rights &= _FOR_FILES
        _call(_ADD, ruleset, _PATH_BENEATH, ctypes.byref(_Beneath(rights, parent)), 0)
    finally:
        os.close(parent)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *words: object) -> int:
    wide = [ctypes.c_long(word) if isinstance(word, int) else word for word in words]
    answer = _libc().syscall(ctypes.c_long(number), *wide)
    if answer < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(answer)
