"""Watch on the data file of a run, which other programs may write, replace or remove."""

from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication

from gradscribe.app.training.setup.files import FileStamp, file_stamp
from gradscribe.widgets.base.single_shot import single_shot

REST_MS = 300
"""Delay before a check: programs write a file in several steps."""


class DataWatch(QObject):
    """Reports when a file differs from what was read; it changes nothing by itself."""

    changed = Signal(bool)
    """True if the file now differs from what was read."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = ""
        self._read: FileStamp = ("", 0, 0)
        self._differs = False
        self._files = QFileSystemWatcher(self)
        self._rest = single_shot(self, self.check, REST_MS)
        self._files.fileChanged.connect(self._schedule)
        self._files.directoryChanged.connect(self._schedule)
        # Not every file system sends change notifications.
        app = QGuiApplication.instance()
        if isinstance(app, QGuiApplication):
            app.applicationStateChanged.connect(self._on_activated)

    def follow(self, path: str) -> None:
        """Watch this file, which is read now; an empty path stops watching."""
        self._path, self._read = path, file_stamp(path)
        self._rewatch()
        self._report(False)

    @property
    def is_gone(self) -> bool:
        """True while the watched file does not exist."""
        return bool(self._path) and file_stamp(self._path)[1:] == (0, 0)

    def check(self) -> None:
        """Compare the file with what was read, and report a difference."""
        self._rewatch()
        self._report(bool(self._path) and file_stamp(self._path) != self._read)

    def _schedule(self) -> None:
        if not self._rest.isActive():
            self._rest.start()

    def _on_activated(self, state: Qt.ApplicationState) -> None:
        if state == Qt.ApplicationState.ApplicationActive and self._path:
            self.check()

    def _rewatch(self) -> None:
        """Watch the file, or its folder while it is missing: programs replace what they save."""
        if old := [*self._files.files(), *self._files.directories()]:
            self._files.removePaths(old)
        place = Path(self._path).absolute()
        watched = next((path for path in (place, place.parent) if _exists(path)), None)
        if self._path and watched is not None:
            self._files.addPath(str(watched))

    def _report(self, differs: bool) -> None:
        if differs or self._differs:
            self._differs = differs
            self.changed.emit(differs)


def _exists(place: Path) -> bool:
    try:
        return place.exists()
    except (OSError, ValueError):
        return False
