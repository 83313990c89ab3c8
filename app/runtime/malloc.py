"""Tune glibc's malloc so that freed memory of the window process returns to the system."""

import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
"""Parameters of `mallopt`, from glibc's malloc.h."""
ARENAS = 2
"""Number of heaps: one for the GUI thread, one for all worker threads."""
MMAP_BYTES = 1 << 19
"""Bytes from which a block is mapped separately and leaves no hole in a heap when freed.

By default glibc raises this to the size of the largest freed block, up to 32 MB. Then pixmaps and
arrays fragment the heap, which after half an hour of work is three times the memory in use.
"""
TRIM_BYTES = 1 << 23
"""Bytes that may lie free at the end of a heap."""


def limit_arenas() -> bool:
    """Set the parameters, before threads are started; return whether glibc accepted them."""
    adjust = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if adjust is None:
        return False
    wanted = ((M_ARENA_MAX, ARENAS), (M_MMAP_THRESHOLD, MMAP_BYTES), (M_TRIM_THRESHOLD, TRIM_BYTES))
    agreed = [adjust(parameter, value) == 1 for parameter, value in wanted]
    return all(agreed)
