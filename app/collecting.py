"""Full garbage collections in turns of their own, lest one begins in the middle of anything."""

import gc
import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

PERIOD_MS = 1000
DUE = 10
"""After so many collections of what is younger; as many as Python itself waits for."""
SHARE = 0.01
"""They take no more than this part of the time."""
NEVER = 1_000_000_000


class Collecting(QObject):
    """Goes through everything that may be garbage now and then, unless it ``is_busy``.

    Whichever thread such a collection begins in, all others wait until it ends, 20 ms with 4,000
    ops on the screen; and while a long tape is made ready Python begins one ten times a second.
    What a collection frees may be Qt's, too, and is freed by the interface thread here.
    """

    def __init__(self, is_busy: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._is_busy = is_busy
        self._next = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(PERIOD_MS)
        self._timer.timeout.connect(self.collect_if_due)

    def start(self) -> None:
        """Begin, and let Python begin none any more."""
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, NEVER)
        self._timer.start()

    def collect_if_due(self) -> None:
        """Collect what is garbage, if that is due and there is time for it."""
        since = time.monotonic()
        if gc.get_count()[2] < DUE or since < self._next or self._is_busy():
            return
        gc.collect()
        now = time.monotonic()
        self._next = now + (now - since) / SHARE
