"""Watch the edited file for changes by other programs and for other windows that have it open."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QEvent, QLockFile, QObject

from gradscribe.app.document.session import Session
from gradscribe.app.document.state import Doc
from gradscribe.app.files import atomic, documents
from gradscribe.app.files.documents import Refused
from gradscribe.app.files.session_file import SessionData
from gradscribe.app.files.sessions import Sessions, try_lock
from gradscribe.app.files.settings import Settings
from gradscribe.app.runtime.notice import Notice, NoticeActions
from gradscribe.app.runtime.path_watch import PathWatch
from gradscribe.app.runtime.worker import BackgroundWorker
from gradscribe.playback.translation import tr
from gradscribe.widgets.editor.code_edit import CodeEdit
from gradscribe.widgets.editor.source_text import length_problem

Stamp = tuple[int, int, int]


@dataclass(frozen=True)
class WatchHost:
    """The parts and actions of the window that `FileWatch` and recovery use."""

    session: Session
    settings: Settings
    editor: CodeEdit
    notices: NoticeActions
    say: Callable[[str], None]
    """Shows a message in the status line."""
    save_elsewhere: Callable[[], None]
    """Lets the user save the program in another file."""


class FileWatch(QObject):
    """Watch the file of one window and report conflicts in its notification bar."""

    def __init__(self, host: WatchHost, sessions: Sessions[SessionData], parent: QObject) -> None:
        super().__init__(parent)
        self._host, self._sessions = host, sessions
        self._path = ""
        self._lock: QLockFile | None = None
        self._worker = BackgroundWorker(self)
        """Writes the file, and takes and releases locks, which waits for the disk, too."""
        self._being_written = 0
        self._stamp: Stamp | None = None
        self._accepted: Stamp | None = None
        """The file as another program left it, after the user chose their own text."""
        self._told: Stamp | None = None
        self._suspect = False
        """True if the file differs from the text that the document was opened with."""
        self._files = PathWatch(self)
        self._files.touched.connect(self.check_disk)
        host.session.doc_changed.connect(self._follow)

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Check the file when the window is activated."""
        if happened.type() == QEvent.Type.WindowActivate:
            self.check_disk()
        return super().eventFilter(watched, happened)

    def _follow(self) -> None:
        """Switch to another file if the document has changed."""
        path = self._host.session.doc.path
        if path != self._path:
            self._path = path
            self._files.follow(path)
            self.mark_saved()
            self._take_lock()

    def _take_lock(self) -> None:
        self._release_lock()
        if not self._path:
            return
        name = hashlib.sha256(os.fsencode(self._path)).hexdigest()[:16]
        lock = self._lock = self._sessions.lock(name)
        if lock is not None:
            self._worker.submit(lambda: try_lock(lock), lambda _: self._notify_open_elsewhere(lock))

    def _notify_open_elsewhere(self, lock: QLockFile) -> None:
        if lock is self._lock and _is_locked_elsewhere(lock):
            text = tr(
                "{name} is open in another window too; save it in one of them",
                name=Path(self._path).name,
            )
            self._host.notices.post(Notice("twice", text, more=self._path))

    def _release_lock(self) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            # The single worker thread unlocks only after it has locked.
            self._worker.submit(lock.unlock, lambda _: None)

    def close(self) -> None:
        """Release the lock of the file, and watch it no longer."""
        self._files.follow("")
        self._release_lock()
        self._worker.wait()

    def _is_elsewhere(self) -> bool:
        """Return whether another window has the same file open."""
        lock = self._lock
        return lock is not None and _is_locked_elsewhere(lock) and not try_lock(lock)

    def mark_saved(self) -> None:
        """Take the file on disk as the base of the text, after opening or saving it."""
        self._stamp = file_stamp(self._path)
        self._accepted, self._suspect = None, False
        for key in ("disk", "twice", "save"):
            self._host.notices.drop(key)

    def check_disk(self) -> None:
        """Notify the user if another program has changed the file."""
        now = file_stamp(self._path)
        if self._being_written or now is None:
            return
        if now in (self._stamp, self._accepted, self._told):
            return
        doc = self._host.session.doc
        if not documents.differs(Path(doc.path), doc.saved):
            self._stamp = now
            return
        self.notify_changed()

    def notify_changed(self) -> None:
        """Offer the choice between the text here and the one in the file."""
        doc = self._host.session.doc
        self._suspect, self._told = True, file_stamp(doc.path)
        name = Path(doc.path).name
        text = tr("{name} was changed by another program", name=name)
        if doc.modified:
            text += tr(", and you have changes that are not saved")
        choices = ((tr("Reload"), self._reload), (tr("Keep mine"), self._keep_mine))
        self._host.notices.show_now(Notice("disk", text, choices, doc.path))

    def _reload(self) -> None:
        path = self._host.session.doc.path
        text = documents.read(Path(path))
        if why := length_problem(text):
            raise Refused(tr("{name} is not taken over: {why}", name=Path(path).name, why=why))
        # The change came from outside this window, so it is not trusted by itself.
        self._host.session.reload(text, not self._host.settings.is_trusted(path, text))
        self.mark_saved()
        self._host.say(tr("Reloaded; undo leads back to what you had"))

    def _keep_mine(self) -> None:
        self._accepted, self._suspect = file_stamp(self._path), False
        self._host.say(tr("Yours stays; saving keeps the other text in a .bak file"))

    def write_conflict(self, path: Path) -> str:
        """Return the reason to confirm writing to ``path``; empty if there is none.

        ``disk``: another program changed the file; ``twice``: another window has it open.
        """
        self._worker.wait()
        if not self._is_own(path):
            return ""
        now = file_stamp(self._path)
        if now is not None and now not in (self._stamp, self._accepted):
            self._suspect |= documents.differs(path, self._host.session.doc.saved)
        if self._suspect and now is not None:
            return "disk"
        return "twice" if self._is_elsewhere() else ""

    def write(
        self, path: Path, doc: Doc, then: Callable[[], None], otherwise: Callable[[Refused], None]
    ) -> None:
        """Write the program to ``path`` atomically in a worker thread.

        If another program changed the file and the user chose their own text, a ``.bak`` copy is
        made first. In this thread ``then`` is called on success, else ``otherwise``.
        """

        def write() -> None:
            self._set_aside(path)
            documents.write(path, doc.source, like=Path(doc.path) if doc.path else None)

        def written(done: Callable[[], None]) -> None:
            self._being_written -= 1
            try:
                done()
            except Refused as refusal:
                otherwise(refusal)
            else:
                then()

        self._being_written += 1
        self._worker.submit(write, written)

    def finish(self) -> None:
        """Wait for a write in progress."""
        if self._being_written:
            self._worker.wait()

    def _is_own(self, path: Path) -> bool:
        """Return whether ``path`` is the edited file, or the target of a link at its place."""
        return bool(self._path) and (
            str(path) == self._path or documents.resolve(Path(self._path)) == path
        )

    def _set_aside(self, path: Path) -> None:
        """Copy what another program wrote to a ``.bak`` file before it is overwritten."""
        if self._accepted is None or not self._is_own(path):
            return
        try:
            with documents.open_plain(path) as file:
                atomic.write(atomic.backup_name(path), file.read())
        except OSError as error:
            raise Refused(
                tr("{path} cannot be set aside: {reason}", path=path, reason=atomic.reason(error))
            ) from error


def _is_locked_elsewhere(lock: QLockFile) -> bool:
    return not lock.isLocked() and lock.error() == QLockFile.LockError.LockFailedError


def file_stamp(path: str) -> Stamp | None:
    """Return mtime, size and inode of a file, to detect changes; None if there is no file."""
    try:
        status = Path(path).stat() if path else None
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size, status.st_ino) if status else None
