"""Watch on the data file of a run, which other programs may write, replace or remove."""

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication

from gradscribe.app.runtime.path_watch import PathWatch
from gradscribe.app.training.setup.files import FileStamp, file_stamp


class DataWatch(QObject):
    """Reports when a file differs from what was read; it changes nothing by itself."""

    changed = Signal(bool)
    """True if the file now differs from what was read."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = ""
        self._read: FileStamp = ("", 0, 0)
        self._differs = False
        self._files = PathWatch(self)
        self._files.touched.connect(self.check)
        # Not every file system sends change notifications.
        app = QGuiApplication.instance()
        if isinstance(app, QGuiApplication):
            app.applicationStateChanged.connect(self._on_activated)

    def follow(self, path: str) -> None:
        """Watch this file, which is read now; an empty path stops watching."""
        self._path, self._read = path, file_stamp(path)
        self._files.follow(path)
        self._report(False)

    @property
    def is_gone(self) -> bool:
        """True while the watched file does not exist."""
        return bool(self._path) and file_stamp(self._path)[1:] == (0, 0)

    def check(self) -> None:
        """Compare the file with what was read, and report a difference."""
        self._files.renew()
        self._report(bool(self._path) and file_stamp(self._path) != self._read)

    def _on_activated(self, state: Qt.ApplicationState) -> None:
        if state == Qt.ApplicationState.ApplicationActive and self._path:
            self.check()

    def _report(self, differs: bool) -> None:
        if differs or self._differs:
            self._differs = differs
            self.changed.emit(differs)
