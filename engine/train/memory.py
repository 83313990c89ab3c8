"""Memory guard: pause a run before it exceeds the memory limit, so that nothing is lost."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import TYPE_CHECKING

from gradscribe.engine.protocol.tape import Problem

if TYPE_CHECKING:
    from gradscribe.engine.train.runs.run import TrainingRun

EVERY_S = 0.25
GROWTH = 1 << 29
"""Maximum growth in bytes by graphs that the mistake ``keep_graphs`` retains, per play."""
SHARE = 0.8
"""Maximum share of the process's memory limit."""


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


class MemoryGuard:
    """Monitor of memory use by one run while it plays."""

    def __init__(self) -> None:
        self._began = 0
        self._next = 0.0

    def begin(self) -> None:
        """Measure growth from now on."""
        self._began = resident_bytes()

    def problem(self, run: TrainingRun, now: float) -> Problem | None:
        """Return why a run must pause, or None; ``now`` in seconds of any clock."""
        if now < self._next:
            return None
        self._next = now + EVERY_S
        cap = data_limit()
        grown, full = resident_bytes() - self._began, cap and allocated_bytes() > SHARE * cap
        losses = run.program.names["kept"]
        if "keep_graphs" in run.setup.mistakes and isinstance(losses, list):
            if grown > min(GROWTH, cap // 4 or GROWTH) or full:
                return Problem(
                    "Memory",
                    f"Paused at step {run.step:,}: {len(losses):,} losses and their graphs hold "
                    f"{(len(losses) and grown) / 1e9:.1f} GB more memory",
                    "Keep loss.item() in place of the loss. Going back lets go of them.",
                )
        elif full:
            return Problem(
                "Memory",
                f"Paused at step {run.step:,}: {allocated_bytes() / 1e9:.1f} GB of memory are in "
                f"use, of {cap / 1e9:.1f} GB that there may be",
                "Something keeps what each step makes. Make a size smaller, or reset.",
            )
        return None
