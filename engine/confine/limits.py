"""Limits of the process: memory, file sizes, descriptors; nobody may look into it."""

import contextlib
import ctypes
import os
import sys

FILES = 256
"""Descriptors that may be open at a time."""
SPACE = 1 << 40
"""Bytes of addresses: the tables of what is only read are counted by no other limit."""
_DUMPABLE = 4


def restrict(*, device: bool = False) -> None:
    """Give up writing to files, core dumps and locked memory, as far as the system has such limits.

    ``device``: leave what the driver of a graphics device needs.
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
