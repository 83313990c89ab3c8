"""Garbage collections in turns of their own, lest one begins in the middle of anything."""

import gc
import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

PERIOD_MS = 250
YOUNG, MIDDLE, FULL = 700, 7_000, 77_000
"""So many objects more than before make a collection of each generation due, as Python has it."""
SHARE = 0.01
"""Full ones take no more than this part of the time."""


class Collecting(QObject):
    """Goes through what may be garbage now and then, unless it ``is_busy``.

    Python begins collections in whichever thread makes an object too many. What is freed there may
    be Qt's, and a widget whose last trace goes in a worker thread takes the program with it.
    And all other threads wait until a collection ends, a full one 20 ms with 4,000 ops on the
    screen; while a long tape is made ready Python begins one ten times a second.
    """

    def __init__(self, is_busy: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._is_busy = is_busy
        self._next = 0.0
        self._more = [0, 0]
        """Objects that the younger collections have seen since the last middle, and full, one."""
        self._timer = QTimer(self)
        self._timer.setInterval(PERIOD_MS)
        self._timer.timeout.connect(self.collect_if_due)

    def start(self) -> None:
        """Begin, and let Python begin none any more."""
        gc.set_threshold(0, *gc.get_threshold()[1:])
        self._timer.start()

    def collect_if_due(self) -> None:
        """Collect what is garbage, if that is due and there is time for it."""
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
