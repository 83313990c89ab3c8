"""Timers that go off once."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


def once(owner: QObject, then: Callable[[], object], ms: int = 0) -> QTimer:
    """Return a timer that calls ``then`` once, ``ms`` milliseconds after each `start`."""
    timer = QTimer(owner)
    timer.setSingleShot(True)
    timer.setInterval(ms)
    timer.timeout.connect(then)
    return timer
