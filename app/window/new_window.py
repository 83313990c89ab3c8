"""Another window: a process of its own, placed next to the one that opened it."""

from PySide6.QtCore import QPoint, QProcess, QRect, QSize

from gradscribe.app.files.documents import Refused
from gradscribe.app.link import launch
from gradscribe.playback.translation import tr

NEW = "--new"
"""Option: start with an empty program, whatever was open last."""
OFFSET = QPoint(32, 32)
"""Pixels from the window that opened it, so that both are seen."""


def start_window() -> int:
    """Start a window with an empty program; return the id of its process.

    The process is detached: neither window ends with the other.

    Raises:
        Refused: the process cannot be started.
    """
    python, arguments = launch.python_executable(), ["-P", "-m", "gradscribe", NEW]
    # What PySide returns has the process id, its declared type has not.
    answer: object = QProcess.startDetached(python, arguments, "")
    is_started, pid = answer if isinstance(answer, tuple) else (bool(answer), 0)
    if not is_started:
        raise Refused(tr("Another window cannot be opened: {python} does not start", python=python))
    return int(pid)


def shifted(place: QPoint, size: QSize, available: QRect) -> QPoint:
    """Return the place of a window a little off another one; at the edge, that of the screen."""
    there = place + OFFSET
    if available.contains(QRect(there, size)):
        return there
    return available.topLeft() if place != available.topLeft() else there
