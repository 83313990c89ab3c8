"""The file that is edited: another window may have it, another program may write to it."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QEvent, QLockFile, QObject

from app import atomic, documents
from app.beside import Beside
from app.documents import Refused
from app.kept import Kept
from app.notices import Notices
from app.session import Session
from app.sessions import Sessions, take
from app.settings import Settings
from app.shell import Notice
from app.state import Doc
from widgets.code_edit import CodeEdit
from widgets.code_text import objection

Stamp = tuple[int, int, int]


class Host(Protocol):
    """What the watch, and keeping, ask of their window."""

    @property
    def session(self) -> Session:
        """What is edited."""

    @property
    def settings(self) -> Settings:
        """What is remembered, the programs that are trusted among it."""

    @property
    def editor(self) -> CodeEdit:
        """Where it is edited."""

    @property
    def notices(self) -> Notices:
        """Where something is said that wants an answer."""

    def say(self, text: str) -> None:
        """Say something that wants none."""

    def save_elsewhere(self) -> None:
        """Let the user save the program in another file."""


class FileWatch(QObject):
    """Watches the file of one window; what it has to say stands in the strip of notices."""

    def __init__(self, host: Host, sessions: Sessions[Kept], parent: QObject) -> None:
        super().__init__(parent)
        self._host, self._sessions = host, sessions
        self._path = ""
        self._lock: QLockFile | None = None
        self._beside = Beside(self)
        """Writes the file, and takes locks and lets go of them, which waits for the disk, too."""
        self._being_written = 0
        self._stamp: Stamp | None = None
        self._accepted: Stamp | None = None
        """The file as another program left it, where the user wants their own text."""
        self._told: Stamp | None = None
        self._suspect = False
        """Whether the text was made from another one than the file held when it was opened."""
        host.session.doc_changed.connect(self._follow)

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Look at the file again when one comes back to the window; called by Qt."""
        if happened.type() == QEvent.Type.WindowActivate:
            self.check_disk()
        return super().eventFilter(watched, happened)

    def _follow(self) -> None:
        """Notice that another file is edited now."""
        path = self._host.session.doc.path
        if path != self._path:
            self._path = path
            self.saved()
            self._take_lock()

    def _take_lock(self) -> None:
        self._let_go()
        if not self._path:
            return
        name = hashlib.sha256(os.fsencode(self._path)).hexdigest()[:16]
        lock = self._lock = self._sessions.lock(name)
        if lock is not None:
            self._beside.ask(lambda: take(lock), lambda _: self._tell_taken(lock))

    def _tell_taken(self, lock: QLockFile) -> None:
        if lock is self._lock and _is_anothers(lock):
            text = f"{Path(self._path).name} is open in another window too; save it in one of them"
            self._host.notices.tell(Notice("twice", text, more=self._path))

    def _let_go(self) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            # After it has been taken: there is one thread for both.
            self._beside.ask(lock.unlock, lambda _: None)

    def close(self) -> None:
        """Let other windows have the file."""
        self._let_go()
        self._beside.finish()

    def _is_elsewhere(self) -> bool:
        """Return whether another window has the same file open."""
        lock = self._lock
        return lock is not None and _is_anothers(lock) and not take(lock)

    def saved(self) -> None:
        """Note that the file now holds the text, or that there is another one."""
        self._stamp = stamp(self._path)
        self._accepted, self._suspect = None, False
        for key in ("disk", "twice", "save"):
            self._host.notices.drop(key)

    def check_disk(self) -> None:
        """Tell of a file that another program has changed."""
        now = stamp(self._path)
        if self._being_written or now is None:
            return
        if now in (self._stamp, self._accepted, self._told):
            return
        doc = self._host.session.doc
        if not documents.differs(Path(doc.path), doc.saved):
            self._stamp = now
            return
        self.tell_changed()

    def tell_changed(self) -> None:
        """Offer the choice between the text here and the one in the file."""
        doc = self._host.session.doc
        self._suspect, self._told = True, stamp(doc.path)
        name = Path(doc.path).name
        text = f"{name} was changed by another program"
        if doc.modified:
            text += ", and you have changes that are not saved"
        choices = (("Reload", self._reload), ("Keep mine", self._keep_mine))
        self._host.notices.tell_first(Notice("disk", text, choices, doc.path))

    def _reload(self) -> None:
        path = self._host.session.doc.path
        text = documents.read(Path(path))
        if why := objection(text):
            raise Refused(f"{Path(path).name} is not taken over: {why}")
        # Whoever changed the file, it was not this window.
        self._host.session.reload(text, not self._host.settings.is_trusted(path, text))
        self.saved()
        self._host.say("Reloaded; undo leads back to what you had")

    def _keep_mine(self) -> None:
        self._accepted, self._suspect = stamp(self._path), False
        self._host.say("Yours stays; saving keeps the other text in a .bak file")

    def objection(self, path: Path) -> str:
        """Return why writing the program to ``path`` wants a second thought; empty if it doesn't.

        ``disk`` says that another program changed the file, ``twice`` that another window has it.
        """
        self._beside.finish()
        if not self._is_own(path):
            return ""
        now = stamp(self._path)
        if now is not None and now not in (self._stamp, self._accepted):
            self._suspect |= documents.differs(path, self._host.session.doc.saved)
        if self._suspect and now is not None:
            return "disk"
        return "twice" if self._is_elsewhere() else ""

    def write(
        self, path: Path, doc: Doc, then: Callable[[], None], otherwise: Callable[[Refused], None]
    ) -> None:
        """Write the program to ``path`` beside the interface, wholly or not at all.

        What another program wrote there is set aside before, where the user has said that theirs
        stays. ``then`` is called here once the file is on the disk, or ``otherwise`` with why not.
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
        self._beside.ask(write, written)

    def finish(self) -> None:
        """Wait until the file is on the disk, where it is on its way there."""
        if self._being_written:
            self._beside.finish()

    def _is_own(self, path: Path) -> bool:
        """Return whether ``path`` is the file, or what a link leads to that now is in its place."""
        return bool(self._path) and (
            str(path) == self._path or documents.real(Path(self._path)) == path
        )

    def _set_aside(self, path: Path) -> None:
        """Keep a copy of what another program wrote before it is written over."""
        if self._accepted is None or not self._is_own(path):
            return
        try:
            with documents.opened(path) as file:
                atomic.write(atomic.spare_name(path), file.read())
        except OSError as error:
            raise Refused(f"{path} cannot be set aside: {atomic.why(error)}") from error


def _is_anothers(lock: QLockFile) -> bool:
    return not lock.isLocked() and lock.error() == QLockFile.LockError.LockFailedError


def stamp(path: str) -> Stamp | None:
    """Return what changes when a file is written to; None where there is no file."""
    try:
        found = Path(path).stat() if path else None
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino) if found else None
