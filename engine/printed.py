"""The running program's output on its way to the window: in pieces, neither many nor endless."""

import threading
import time
from collections.abc import Callable

from engine import watchdog
from engine.errors import plain
from engine.untouched import keep_builtins

keep_builtins(globals())

PERIOD_S = 0.04
"""Output is gathered for so long before it is sent."""
PIECE = 16_384
"""Characters of one message at most."""
LIMIT = 1_000_000
"""Characters of one run that are streamed; the tape brings the rest."""


class Stream:
    """Gathers text and hands it on in pieces from a thread of its own, so that none lies waiting.

    Used by one run after another: `begin`, any number of `write`, `end`.
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
        """From now on text belongs to ``run_id``."""
        with self._changed:
            self._run_id, self._left = run_id, LIMIT
            self._parts.clear()

    def write(self, text: str) -> None:
        """Take a piece of output, of any length."""
        with self._changed:
            if not text or self._left <= 0:
                return
            text = plain(text[: self._left])
            self._left -= len(text)
            self._parts.append(text)
            if len(self._parts) == 1:
                self._changed.notify()
            due = time.monotonic() - self._sent_at >= PERIOD_S
        # A line is sent from here, for the program may be about to take the process down.
        if due and text.endswith("\n"):
            with watchdog.hold():
                self._flush()
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="printed", daemon=True)
            self._thread.start()

    def end(self) -> None:
        """Send what is left."""
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
