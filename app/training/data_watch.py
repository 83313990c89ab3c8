"""The file that a run learns from: another program may write to it, or take it away."""

from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication

from app.training.files import Stamp, stamp
from widgets.once import once

REST_MS = 300
"""What writes a file does so in several goes."""


class DataWatch(QObject):
    """Tells when a file is not as it was when it was read; it changes nothing by itself."""

    changed = Signal(bool)
    """Whether it is otherwise now than when it was read."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = ""
        self._read: Stamp = ("", 0, 0)
        self._told = False
        self._files = QFileSystemWatcher(self)
        self._rest = once(self, self.check, REST_MS)
        self._files.fileChanged.connect(self._plan)
        self._files.directoryChanged.connect(self._plan)
        # Not every disk tells of changes.
        app = QGuiApplication.instance()
        if isinstance(app, QGuiApplication):
            app.applicationStateChanged.connect(self._come_back)

    def follow(self, path: str) -> None:
        """Watch this file, which is read now, or none."""
        self._path, self._read = path, stamp(path)
        self._hold()
        self._tell(False)

    @property
    def is_gone(self) -> bool:
        """Whether there is no such file any more."""
        return bool(self._path) and stamp(self._path)[1:] == (0, 0)

    def check(self) -> None:
        """Look whether it is still what was read."""
        self._hold()
        self._tell(bool(self._path) and stamp(self._path) != self._read)

    def _plan(self) -> None:
        if not self._rest.isActive():
            self._rest.start()

    def _come_back(self, state: Qt.ApplicationState) -> None:
        if state == Qt.ApplicationState.ApplicationActive and self._path:
            self.check()

    def _hold(self) -> None:
        """Watch the file, and its folder while it is not there: programs replace what they save."""
        if old := [*self._files.files(), *self._files.directories()]:
            self._files.removePaths(old)
        place = Path(self._path).absolute()
        held = next((one for one in (place, place.parent) if _exists(one)), None)
        if self._path and held is not None:
            self._files.addPath(str(held))

    def _tell(self, told: bool) -> None:
        if told or self._told:
            self._told = told
            self.changed.emit(told)


def _exists(place: Path) -> bool:
    try:
        return place.exists()
    except (OSError, ValueError):
        return False
