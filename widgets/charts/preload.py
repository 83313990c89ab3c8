"""Import of pyqtgraph in a thread: in the GUI thread it would stop the window for a moment."""

import threading
from collections.abc import Callable
from importlib import import_module

from PySide6.QtCore import QObject

from gradscribe.widgets.base.single_shot import single_shot

POLL_MS = 20
"""Pause before looking again whether the import is over."""


def start() -> threading.Thread:
    """Return the running thread that imports pyqtgraph."""
    thread = threading.Thread(
        target=import_module, args=("pyqtgraph",), name="pyqtgraph import", daemon=True
    )
    thread.start()
    return thread


class ChartImport(QObject):
    """Calls functions in the GUI thread once pyqtgraph is imported, in the order of their calls."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._thread: threading.Thread | None = None
        self._waiting: list[Callable[[], object]] = []
        self._poll = single_shot(self, self._go_on, POLL_MS)

    def call(self, then: Callable[[], object]) -> None:
        """Call ``then`` once pyqtgraph is imported; at once if it is."""
        if self._thread is None:
            self._thread = start()
        self._waiting.append(then)
        self._go_on()

    def _go_on(self) -> None:
        if self._thread is not None and self._thread.is_alive():
            self._poll.start()
            return
        waiting, self._waiting = self._waiting, []
        for then in waiting:
            then()
