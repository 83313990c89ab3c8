"""Time for which a process was ready to run but got no processor: it is not the program's own.

A time limit leaves it out, so that a busy machine makes no program run into its limit.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

LEAST_S = 0.05
"""Least time after which to look again."""
IDLE_SHARE = 0.01
"""Share of the time that a process computes at most while it waits for something else; used where
the system does not count how long threads wait for a processor."""


def processor_waits(process: int | str = "self") -> dict[str, float]:
    """Return the seconds for which each thread of a process has waited for a processor (Linux).

    Empty where the system does not say.
    """
    found: dict[str, float] = {}
    with suppress(OSError):
        for folder in Path(f"/proc/{process}/task").iterdir():
            # A thread may end meanwhile.
            with suppress(OSError, ValueError, IndexError):
                words = (folder / "schedstat").read_text().split()
                found[folder.name] = int(words[1]) / 1e9
    return found


class SpentTime:
    """Time that a process has spent of a limit: it computed, or waited for no processor."""

    def __init__(
        self,
        limit: float,
        process: int | str = "self",
        waits: Callable[[int | str], dict[str, float]] = processor_waits,
    ) -> None:
        """``limit`` in seconds. ``waits`` reads how long threads have waited for a processor."""
        self.limit = limit
        self._process = process
        self._read_waits = waits
        self._spent = 0.0
        self._now = time.monotonic()
        self._computed = time.process_time()
        self._waits = waits(process)

    def left(self) -> float:
        """Return a time in seconds, at least `LEAST_S`, after which to look again; 0: it is up."""
        left = self.limit - self._spent - (time.monotonic() - self._now)
        if left > 0:
            return max(left, LEAST_S)
        self._settle()
        left = self.limit - self._spent
        return max(left, LEAST_S) if left > 0 else 0.0

    def _settle(self) -> None:
        """Count the time since the last call."""
        now, computed, waits = (
            time.monotonic(),
            time.process_time(),
            self._read_waits(self._process),
        )
        passed, own = now - self._now, computed - self._computed
        if waits and self._waits:
            # Threads that compute together wait at the same time.
            waited = max(wait - self._waits.get(thread, 0.0) for thread, wait in waits.items())
            self._spent += max(0.0, passed - max(0.0, waited))
        elif self._process == "self" and own > IDLE_SHARE * passed:
            self._spent += min(own, passed)
        else:
            self._spent += passed
        self._now, self._computed, self._waits = now, computed, waits
