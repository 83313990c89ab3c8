"""Send the running program's output to the window, batched in time and bounded in size."""

import threading
import time
from collections.abc import Callable

from gradscribe.engine.protocol.safe_text import without_surrogates
from gradscribe.engine.run import watchdog
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

PERIOD_S = 0.04
"""Seconds for which output is collected before it is sent."""
PIECE = 16_384
"""Most characters of one message."""
LIMIT = 1_000_000
"""Characters of one run that are streamed; the tape has the rest."""


class OutputSender:
    """Collect text and send it in pieces, from a worker thread if the program pauses.

    Used by consecutive runs: `begin`, any number of `write`, `end`.
    """

    def __init__(self, send: Callable[[int, str], None]) -> None:
        self._send = send
        self._run_id = 0
        self._left = 0
        self._sent_at = 0.0
        self._parts: list[str] = []
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def begin(self, run_id: int) -> None:
        """Start the output of the run ``run_id``."""
        with self._changed:
            self._run_id, self._left = run_id, LIMIT
            self._parts.clear()

    def write(self, text: str) -> None:
        """Add a piece of output of any length."""
        with self._changed:
            if not text or self._left <= 0:
                return
            text = without_surrogates(text[: self._left])
            self._left -= len(text)
            self._parts.append(text)
            if len(self._parts) == 1:
                self._changed.notify()
            due = time.monotonic() - self._sent_at >= PERIOD_S
        # A whole line is sent at once: the program may be about to crash the process.
        if due and text.endswith("\n"):
            with watchdog.block_interrupts():
                self._flush()
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="printed", daemon=True)
            self._thread.start()

    def end(self) -> None:
        """Send the remaining text."""
        self._flush()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._parts))
            threading.Event().wait(PERIOD_S)
            self._flush()

    def _flush(self) -> None:
        with self._changed:
            run_id, text = self._run_id, "".join(self._parts)
            self._parts.clear()
            self._sent_at = time.monotonic()
            # Sent under the lock: two flushes must not overtake each other.
            for start in range(0, len(text), PIECE):
                self._send(run_id, text[start : start + PIECE])
