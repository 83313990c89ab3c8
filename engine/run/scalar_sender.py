"""Sends the scalars of the running program's loop, from a thread of its own.

The engine makes it before it imports torch.
"""

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from gradscribe.engine.protocol.messages import ComputedScalar
from gradscribe.engine.sandbox.builtins import use_original_builtins

if TYPE_CHECKING:
    from gradscribe.engine.run.live_scalars import LiveScalars

use_original_builtins(globals())

PERIOD_S = 0.25
"""Least seconds between two messages."""


class ScalarSender:
    """Sends what `LiveScalars` finds, from a thread of its own that waits for the window."""

    def __init__(self, send: Callable[[int, tuple[ComputedScalar, ...]], None]) -> None:
        self._send = send
        self._run_id = 0
        self._reader: LiveScalars | None = None
        self._sent_at = 0.0
        self._changed = threading.Condition()
        self._waiting: tuple[ComputedScalar, ...] = ()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def begin(self, run_id: int) -> None:
        """Follow the run ``run_id`` from now on, once `watch` has its reader."""
        with self._changed:
            self._run_id, self._reader, self._waiting = run_id, None, ()
        self._sent_at = time.monotonic()

    def watch(self, reader: "LiveScalars") -> None:
        """Read by this reader at each `tick`."""
        self._reader = reader

    def end(self) -> None:
        """Send no more of this run."""
        with self._changed:
            self._reader, self._waiting = None, ()

    def tick(self) -> None:
        """Read the log if a message is due and the one before is on its way."""
        reader, now = self._reader, time.monotonic()
        if reader is None or now - self._sent_at < PERIOD_S or self._waiting:
            return
        try:
            found = reader.read()
        except Exception:  # noqa: BLE001 - this thread also enforces the time limit
            self._reader = None
            return
        with self._changed:
            if found and self._reader is reader:
                self._waiting, self._sent_at = found, now
                self._changed.notify()
        if found and self._thread is None:
            self._thread = threading.Thread(target=self._work, name="scalars", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._waiting) or self._is_closed)
                if self._is_closed:
                    return
                # Sent under the lock: nothing of a run follows its end.
                self._send(self._run_id, self._waiting)
                self._waiting = ()


current: ScalarSender | None = None
"""The sender of this process, which `run.execute` gives a reader of each program's log."""
