"""Resource limits: memory, threads, file sizes, descriptors; and protection from ptrace."""

import contextlib
import ctypes
import os
import sys
from pathlib import Path

MAX_FILES = 256
"""Most open descriptors."""
MAX_ADDRESS_SPACE = 1 << 40
"""Bytes of address space: page tables of memory that is only read count in no other limit."""
EXTRA_THREADS = 8192
"""Threads that may be added to the user's present ones, so that no program uses up all of them.
Linux counts them per user, and does not limit root."""
_DUMPABLE = 4


def threads_in_use() -> int:
    """Return the number of threads of all of this user's processes; 0 if there is no /proc."""
    count = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            if folder.stat().st_uid == os.getuid():
                status = (folder / "status").read_text(errors="replace")
                count += int(status.partition("\nThreads:")[2].split(None, 1)[0])
    return count


def restrict(*, device: bool = False, threads: int = 0) -> None:
    """Give up writing to files, core dumps and locked memory, as far as the system has such limits.

    ``device``: leave what the driver of a graphics device needs; ``threads``: the result of
    `threads_in_use` before the confinement.
    """
    if sys.platform == "win32":
        return
    import resource

    _cap(resource.RLIMIT_CORE, 0)
    _cap(resource.RLIMIT_FSIZE, 0)
    if not device:
        _cap(resource.RLIMIT_NOFILE, MAX_FILES)
        if hasattr(resource, "RLIMIT_MEMLOCK"):
            _cap(resource.RLIMIT_MEMLOCK, 0)
        if sys.platform == "linux":
            _cap(resource.RLIMIT_AS, MAX_ADDRESS_SPACE)
            if threads:
                _cap(resource.RLIMIT_NPROC, threads + EXTRA_THREADS)
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


def close_inherited(*needed: int) -> None:
    """Close every inherited descriptor except the standard ones and those ``needed``."""
    start = 3
    for end in sorted({*needed, os.sysconf("SC_OPEN_MAX") if hasattr(os, "sysconf") else 4096}):
        if end > start:
            os.closerange(start, min(end, 1 << 16))
        start = max(start, end + 1)
