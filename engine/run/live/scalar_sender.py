"""Sends the scalars of the running program's loop, from a thread of its own.

The engine makes it before it imports torch.
"""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from gradscribe.engine.protocol.messages import ComputedScalar
from gradscribe.engine.run.live.sending_thread import SendingThread
from gradscribe.engine.sandbox.builtins import use_original_builtins

if TYPE_CHECKING:
    from gradscribe.engine.run.live.live_scalars import LiveScalars

use_original_builtins(globals())

PERIOD_S = 0.25
"""Least seconds between two messages."""


class ScalarSender:
    """Sends what `LiveScalars` finds, from a thread of its own that waits for the window."""

    def __init__(self, send: Callable[[int, tuple[ComputedScalar, ...]], None]) -> None:
        self._sending = SendingThread[tuple[ComputedScalar, ...]]("scalars", send)
        self._run_id = 0
        self._reader: LiveScalars | None = None
        self._sent_at = 0.0

    def begin(self, run_id: int) -> None:
        """Follow the run ``run_id`` from now on, once `watch` has its reader."""
        self._run_id, self._reader = run_id, None
        self._sending.begin(run_id)
        self._sent_at = time.monotonic()

    def watch(self, reader: "LiveScalars") -> None:
        """Read by this reader at each `tick`."""
        self._reader = reader

    def end(self) -> None:
        """Send no more of this run."""
        self._reader = None
        self._sending.begin(0)

    def tick(self) -> None:
        """Read the log if a message is due and the one before is on its way."""
        reader, now, run_id = self._reader, time.monotonic(), self._run_id
        if reader is None or now - self._sent_at < PERIOD_S or self._sending.is_busy:
            return
        try:
            found = reader.read()
        except Exception:  # noqa: BLE001 - this thread also enforces the time limit
            self._reader = None
            return
        if found:
            self._sent_at = now
            self._sending.offer(run_id, found)

    def close(self) -> None:
        """End the thread."""
        self._sending.close()


current: ScalarSender | None = None
"""The sender of this process, which `run.execute` gives a reader of each program's log."""
