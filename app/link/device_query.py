"""Devices of other Pythons, asked one after another in the background."""

import json
import os
from collections import deque

from PySide6.QtCore import QObject, QProcess, Signal

from gradscribe.widgets.base.single_shot import single_shot

TIMEOUT_S = 60.0
"""Most seconds for a Python to import torch, from a cold disk, and to name its devices."""
CLOSE_MS = 2000
LONGEST = 100
"""Most characters of a device's name, and most devices."""
PROGRAM = """
import sys
del sys.path[0]
import json, torch
names = [torch.cuda.get_device_properties(n).name for n in range(torch.cuda.device_count())]
names += ["mps"] * torch.backends.mps.is_available()
print()
print(json.dumps(names))
"""


class DeviceQuery(QObject):
    """Runs each Python that is asked, at most one at a time, and stops one that takes too long."""

    answered = Signal(str, object)
    """Carries the path of a Python and the names of its graphics devices; None if it has no answer:
    torch cannot be imported there, or takes longer than `TIMEOUT_S`."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._waiting: deque[str] = deque()
        self._path = ""
        self._process: QProcess | None = None
        self._limit = single_shot(self, self._stop, round(1000 * TIMEOUT_S))

    def is_asking(self, path: str) -> bool:
        """Return whether a Python is being asked or waits for it."""
        return path == self._path or path in self._waiting

    def ask(self, path: str) -> None:
        """Ask a Python; `answered` follows."""
        if not self.is_asking(path):
            self._waiting.append(path)
            self._next()

    def close(self) -> None:
        """Ask no more, and end the process that is running."""
        self._waiting.clear()
        self._limit.stop()
        process, self._process = self._process, None
        if process is not None:
            process.finished.disconnect(self._finish)
            process.errorOccurred.disconnect(self._fail)
            process.kill()
            process.waitForFinished(CLOSE_MS)

    def _next(self) -> None:
        if self._process is not None or not self._waiting:
            return
        self._path = self._waiting.popleft()
        self._process = process = QProcess(self)
        process.setProgram(self._path)
        process.setArguments(["-c", PROGRAM])
        # Not in the user's folder, whose files would be imported.
        process.setWorkingDirectory(os.path.dirname(self._path))
        process.setStandardInputFile(QProcess.nullDevice())
        process.setStandardErrorFile(QProcess.nullDevice())
        process.finished.connect(self._finish)
        process.errorOccurred.connect(self._fail)
        self._limit.start(round(1000 * TIMEOUT_S))
        process.start()

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _finish(self, _code: int, _status: QProcess.ExitStatus) -> None:
        process = self._process
        if process is not None:
            self._answer(_names(bytes(process.readAllStandardOutput().data())))

    def _fail(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self._answer(None)

    def _answer(self, names: tuple[str, ...] | None) -> None:
        self._limit.stop()
        process, self._process = self._process, None
        path, self._path = self._path, ""
        if process is not None:
            process.deleteLater()
        self.answered.emit(path, names)
        self._next()


def _names(output: bytes) -> tuple[str, ...] | None:
    """Return the names in the last line that a Python wrote; None if there are none."""
    lines = output.strip().splitlines()
    try:
        names = json.loads(lines[-1]) if lines else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(names, list):
        return None
    return tuple(str(name)[:LONGEST] for name in names[:LONGEST])
