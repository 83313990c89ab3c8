"""How much memory a run may take before it is made to pause: what has been reached is kept."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import TYPE_CHECKING

from engine.tape import Problem

if TYPE_CHECKING:
    from engine.train.run import Run

EVERY_S = 0.25
GROWTH = 1 << 29
"""Bytes that graphs kept on purpose may grow by in one go."""
SHARE = 0.8
"""The part of what the process may have at all that a run may fill."""


def resident() -> int:
    """Return how many bytes this process holds; 0 where the system does not tell."""
    return _statm(1)


def allocated() -> int:
    """Return how many bytes this process has asked for, its programs' code not counted."""
    return _statm(5)


def _statm(field: int) -> int:
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[field]) * os.sysconf("SC_PAGESIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


def give_back() -> None:
    """Hand what has been freed back to the system (glibc), so that it counts as free."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def most() -> int:
    """Return how many bytes the process may ask for; 0: nobody says."""
    if sys.platform == "win32":
        return 0
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
    return 0 if soft == resource.RLIM_INFINITY else soft


class Guard:
    """Looks after the memory of one run while it plays."""

    def __init__(self) -> None:
        self._began = 0
        self._next = 0.0

    def begin(self) -> None:
        """Count from now on what it grows by."""
        self._began = resident()

    def problem(self, run: Run, now: float) -> Problem | None:
        """Return why a run is to pause, None where it need not; ``now`` in seconds of any clock."""
        if now < self._next:
            return None
        self._next = now + EVERY_S
        cap = most()
        grown, full = resident() - self._began, cap and allocated() > SHARE * cap
        kept = run.program.names["kept"]
        if "keep_graphs" in run.setup.mistakes and isinstance(kept, list):
            if grown > min(GROWTH, cap // 4 or GROWTH) or full:
                return Problem(
                    "Memory",
                    f"Paused at step {run.step:,}: {len(kept):,} losses and their graphs hold "
                    f"{(len(kept) and grown) / 1e9:.1f} GB more memory",
                    "Keep loss.item() in place of the loss. Going back lets go of them.",
                )
        elif full:
            return Problem(
                "Memory",
                f"Paused at step {run.step:,}: {allocated() / 1e9:.1f} GB of memory are in use, "
                f"of {cap / 1e9:.1f} GB that there may be",
                "Something keeps what each step makes. Make a size smaller, or reset.",
            )
        return None
