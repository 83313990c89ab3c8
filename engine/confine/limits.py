"""Limits of the process: memory, threads, file sizes, descriptors; nobody may look into it."""

import contextlib
import ctypes
import os
import sys
from pathlib import Path

FILES = 256
"""Descriptors that may be open at a time."""
SPACE = 1 << 40
"""Bytes of addresses: the tables of what is only read are counted by no other limit."""
THREADS = 8192
"""So many threads more than a user has now may there be: else one program leaves the user none.
The system counts them by user, and none of root's."""
_DUMPABLE = 4


def threads_in_use() -> int:
    """Return how many threads this user's programs have, as far as Linux tells; else 0."""
    found = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            if folder.stat().st_uid == os.getuid():
                told = (folder / "status").read_text(errors="replace")
                found += int(told.partition("\nThreads:")[2].split(None, 1)[0])
    return found


def restrict(*, device: bool = False, threads: int = 0) -> None:
    """Give up writing to files, core dumps and locked memory, as far as the system has such limits.

    ``device``: leave what the driver of a graphics device needs; ``threads``: what `threads_in_use`
    told while it could.
    """
    if sys.platform == "win32":
        return
    import resource

    _cap(resource.RLIMIT_CORE, 0)
    _cap(resource.RLIMIT_FSIZE, 0)
    if not device:
        _cap(resource.RLIMIT_NOFILE, FILES)
        if hasattr(resource, "RLIMIT_MEMLOCK"):
            _cap(resource.RLIMIT_MEMLOCK, 0)
        if sys.platform == "linux":
            _cap(resource.RLIMIT_AS, SPACE)
            if threads:
                _cap(resource.RLIMIT_NPROC, threads + THREADS)
    if hasattr(resource, "RLIMIT_DATA"):
        soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
        if soft != resource.RLIM_INFINITY:
            _cap(resource.RLIMIT_DATA, soft)
    if sys.platform == "linux" and not device:
        ctypes.CDLL(None).prctl(_DUMPABLE, 0, 0, 0, 0)


def _cap(kind: int, most: int) -> None:
    import resource

    with contextlib.suppress(OSError, ValueError):
        _, hard = resource.getrlimit(kind)
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (limit, limit))


def close_others(*kept: int) -> None:
    """Close every descriptor that was inherited but standard ones and ``kept``."""
    start = 3
    for one in sorted({*kept, os.sysconf("SC_OPEN_MAX") if hasattr(os, "sysconf") else 4096}):
        if one > start:
            os.closerange(start, min(one, 1 << 16))
        start = max(start, one + 1)
