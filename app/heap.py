"""How the C library keeps the window's memory: what is freed goes back to the system."""

import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
"""The parameters' numbers, as malloc.h of glibc has them."""
ARENAS = 2
"""Heaps: one for the interface, one for all threads beside it, which come and go by the hundred."""
APART = 1 << 19
"""Bytes from which a block is mapped on its own and leaves no hole in a heap once it is freed.

Left alone, glibc raises this to the size of what was freed, up to 32 MB: pictures and curves then
lie among small things, and half an hour of work leaves three times of what is in use.
"""
SPARE = 1 << 23
"""Bytes that may lie free at the end of a heap."""


def keep_small() -> bool:
    """Ask for this of glibc, before threads are begun; returns whether it is there and agrees."""
    adjust = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if adjust is None:
        return False
    wanted = ((M_ARENA_MAX, ARENAS), (M_MMAP_THRESHOLD, APART), (M_TRIM_THRESHOLD, SPARE))
    agreed = [adjust(parameter, value) == 1 for parameter, value in wanted]
    return all(agreed)
