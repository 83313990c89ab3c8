"""Notifications about a file that other programs write, replace or remove."""

from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, Signal

from gradscribe.widgets.base.single_shot import single_shot

REST_MS = 300
"""Delay of a notification: programs write a file in several steps."""


class PathWatch(QObject):
    """Report when something happens to a file, or in its folder while it is missing."""

    touched = Signal()
    """The file was written, replaced, removed or created, or has been touched."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = ""
        self._files = QFileSystemWatcher(self)
        self._rest = single_shot(self, self._report, REST_MS)
        self._files.fileChanged.connect(self._schedule)
        self._files.directoryChanged.connect(self._schedule)

    def follow(self, path: str) -> None:
        """Watch this file; an empty path stops watching."""
        self._path = path
        self.renew()

    def renew(self) -> None:
        """Watch the file that is at the path now: programs replace what they save."""
        if old := [*self._files.files(), *self._files.directories()]:
            self._files.removePaths(old)
        place = Path(self._path).absolute()
        watched = next((path for path in (place, place.parent) if _exists(path)), None)
        if self._path and watched is not None:
            self._files.addPath(str(watched))

    def _schedule(self) -> None:
        if not self._rest.isActive():
            self._rest.start()

    def _report(self) -> None:
        self.renew()
        self.touched.emit()


def _exists(place: Path) -> bool:
    try:
        return place.exists()
    except (OSError, ValueError):
        return False
