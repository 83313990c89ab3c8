"""A thread that sends what another hands over, so that a slow reader delays only it.

The engine makes it before it imports torch.
"""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

T = TypeVar("T")


class SendingThread(Generic[T]):
    """Sends an item at a time, with the run that it is of; starts at the first."""

    def __init__(self, name: str, send: Callable[[int, T], None]) -> None:
        self._name, self._send = name, send
        self._changed = threading.Condition()
        self._run_id = 0
        self._waiting: T | None = None
        self._thread: threading.Thread | None = None
        self._is_closed = False

    @property
    def is_busy(self) -> bool:
        """Return whether an item has not been sent yet."""
        return self._waiting is not None

    def begin(self, run_id: int) -> None:
        """Send the next items as those of the run ``run_id``; drop the one that waits.

        Once it returns, no item of an earlier run is sent.
        """
        with self._changed:
            self._run_id, self._waiting = run_id, None

    def offer(self, run_id: int, item: T) -> None:
        """Send an item, unless its run has ended or another waits."""
        with self._changed:
            if run_id != self._run_id or self._waiting is not None:
                return
            self._waiting = item
            self._changed.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
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
                self._changed.wait_for(lambda: self._waiting is not None or self._is_closed)
                if self._is_closed or self._waiting is None:
                    return
                # Sent under the lock: nothing of a run follows its end.
                self._send(self._run_id, self._waiting)
                self._waiting = None
