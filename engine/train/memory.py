"""Memory of this process: how much it uses, and how much it may use."""

import ctypes
import os
import sys


def resident_bytes() -> int:
    """Return the resident memory of this process in bytes; 0 if the system does not report it."""
    return _statm(1)


def allocated_bytes() -> int:
    """Return the size of this process's data segment and stack in bytes, or 0."""
    return _statm(5)


def _statm(field: int) -> int:
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[field]) * os.sysconf("SC_PAGESIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


def trim_heap() -> None:
    """Return freed memory to the system (glibc), so that it counts as free."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def data_limit() -> int:
    """Return the process's limit of data bytes (RLIMIT_DATA); 0 for none."""
    if sys.platform == "win32":
        return 0
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
    return 0 if soft == resource.RLIM_INFINITY else soft
