"""Single-shot timers."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


def single_shot(owner: QObject, then: Callable[[], object], ms: int = 0) -> QTimer:
    """Return a single-shot timer that calls ``then`` ``ms`` milliseconds after each `start`."""
    timer = QTimer(owner)
    timer.setSingleShot(True)
    timer.setInterval(ms)
    timer.timeout.connect(then)
    return timer
