"""Run the cyclic garbage collector from a timer in the GUI thread."""

import gc
import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

PERIOD_MS = 250
YOUNG, MIDDLE, FULL = 700, 7_000, 77_000
"""Allocations that make a collection of each generation due, as in Python's own thresholds."""
SHARE = 0.01
"""Largest share of the time that full collections may take."""


class GcScheduler(QObject):
    """Collect garbage periodically, unless ``is_busy()``.

    By itself Python starts a collection in whichever thread crosses the threshold. It may free Qt
    objects there, and destroying a widget in a worker thread crashes the program. All other threads
    wait for the collection, too: a full one takes 20 ms with 4,000 ops on the screen, and
    preprocessing a long tape triggers ten a second.
    """

    def __init__(self, is_busy: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._is_busy = is_busy
        self._next = 0.0
        self._more = [0, 0]
        """Allocations since the last collection of the middle generation, and since a full one."""
        self._timer = QTimer(self)
        self._timer.setInterval(PERIOD_MS)
        self._timer.timeout.connect(self.collect_if_due)

    def start(self) -> None:
        """Disable Python's automatic collection and start the timer."""
        gc.set_threshold(0, *gc.get_threshold()[1:])
        self._timer.start()

    def collect_if_due(self) -> None:
        """Collect the generations that are due, unless busy."""
        count = gc.get_count()[0]
        if count < YOUNG or self._is_busy():
            return
        since = time.monotonic()
        middle, full = (more + count for more in self._more)
        if full >= FULL and since >= self._next:
            gc.collect()
            self._more = [0, 0]
            now = time.monotonic()
            self._next = now + (now - since) / SHARE
        elif middle >= MIDDLE:
            gc.collect(1)
            self._more = [0, full]
        else:
            gc.collect(0)
            self._more = [middle, full]
