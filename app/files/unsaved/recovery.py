"""Recovery of unsaved work: autosave, session files and drafts.

There is one `Recovery` per window; it reports in the window's notification bar.
"""

import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from PySide6.QtCore import QObject, QTimer

from gradscribe.app.files import atomic, documents
from gradscribe.app.files.documents import Draft, Drafts, Refused
from gradscribe.app.files.file_watch import FileWatch, WatchHost
from gradscribe.app.files.session_file import SessionData
from gradscribe.app.files.sessions import PROGRAM_FORMAT, RecoveredWork, Sessions, SessionSlot
from gradscribe.app.files.unsaved.autosave import Autosave
from gradscribe.app.files.unsaved.recovery_offers import RecoveryOffer, RecoveryOffers, offered_name
from gradscribe.app.runtime.notice import Notice
from gradscribe.playback.translation import tr

Stamp = tuple[int, int, int]


class _Taken(Struct, frozen=True):
    """A draft that is being edited in this window."""

    path: str


class Recovery(QObject):
    """Save, stash and restore the work of one window."""

    def __init__(self, host: WatchHost, drafts: Drafts, parent: QObject) -> None:
        super().__init__(parent)
        self._host, self._drafts = host, drafts
        self.where = drafts.where.with_name("sessions") if drafts.where else None
        """The folder of the session files of open windows; None stores nothing."""
        self.sessions = Sessions(self.where, PROGRAM_FORMAT)
        self._slot = self.sessions.begin()
        self._saver = Autosave(self._slot, self.look, self) if self._slot else None
        self.file = FileWatch(host, self.sessions, self)
        """Watches the edited file itself."""
        parent.installEventFilter(self.file)
        self._warned = False
        self._left: SessionSlot[SessionData] | None = None
        """Session file of the snapshot, if it was stashed there for the next start."""
        self._taken_over: _Taken | None = None
        """The draft to be deleted once this window's copy of it is on the disk."""
        self.offers = RecoveryOffers(host.notices)
        """Work of other windows, offered together with that of the training page."""
        self._connect()

    def _connect(self) -> None:
        session, saver = self._host.session, self._saver
        session.doc_changed.connect(self._lighten)
        if saver is None:
            if self.sessions.where is not None:
                self._report_failure(tr("{where} cannot be written", where=self.sessions.where))
            return
        session.doc_changed.connect(saver.edited)
        session.view_changed.connect(saver.view_changed)
        session.moved.connect(saver.view_changed)
        self._host.editor.cursorPositionChanged.connect(saver.view_changed)
        saver.failed.connect(self._report_failure)
        saver.recovered.connect(lambda: self._host.notices.drop("autosave"))

    def _lighten(self) -> None:
        if self._host.editor.history.is_heavy:
            QTimer.singleShot(0, self._host.editor, self._host.editor.compact_history)

    def _report_failure(self, why: str) -> None:
        text = tr("Autosave does not work: {why}. Save the program elsewhere.", why=why)
        choice = (tr("Save as…"), self._host.save_elsewhere)
        self._host.notices.post(Notice("autosave", text, (choice,)))

    def look(self) -> SessionData:
        """Return a snapshot of the work."""
        session, editor = self._host.session, self._host.editor
        bars = (editor.horizontalScrollBar(), editor.verticalScrollBar())
        return SessionData(
            doc=session.doc,
            view=session.view,
            steps=editor.history.steps,
            done=editor.history.done,
            caret=editor.caret(),
            scroll=(bars[0].value(), bars[1].value()),
            when=time.time(),
        )

    # Drafts

    def find_draft(self, path: str) -> Draft | None:
        """Return the draft of ``path``, if any; report one that is damaged."""
        try:
            return self._drafts.find(path)
        except Refused as refusal:
            self._host.notices.post(Notice(f"draft {path}", str(refusal)))
            return None

    def adopt_draft(self, path: str) -> None:
        """Delete the draft of ``path``, now edited here, once this window has saved it."""
        if self._saver is None:
            return
        try:
            draft = self._drafts.find(path)
        except Refused:
            return
        # The draft may be of another text: all documents without a file share one.
        if draft is not None and draft.source == self._host.session.doc.source:
            self._taken_over = taken = _Taken(path)
            self._saver.then(lambda: self._drop_draft(taken))

    def _drop_draft(self, taken: "_Taken") -> None:
        if taken is self._taken_over:
            self._taken_over = None
            self._drafts.drop(taken.path)

    def stash(self) -> None:
        """Store the unsaved text as a draft, to be restored when the document is opened again.

        Raises:
            Refused: it cannot be stored.
        """
        self.file.finish()
        self._left = None
        doc = self._host.session.doc
        if doc.lesson or not doc.has_unsaved:
            # The user's own program was stashed when the lesson began.
            return
        if self._is_taken(doc.path):
            # Another window's draft, or a later version's: keep both.
            try:
                left = self.sessions.leave(self.look(), sync=False)
            except OSError as error:
                raise Refused(
                    tr("The text cannot be stored: {reason}", reason=atomic.reason(error))
                ) from error
            if left is not None:
                self._left = left
                self._sync_first(lambda: atomic.sync_file(left.path))
            return
        draft = Draft(doc.source, doc.path, doc.title, doc.saved, doc.foreign, doc.slides)
        self._drafts.keep(draft)
        self._sync_first(lambda: self._drafts.sync(doc.path))

    def _sync_first(self, sync: Callable[[], None]) -> None:
        """Sync in the saving thread before the session file is overwritten."""
        if self._saver is not None:
            # The draft to be deleted has just been written anew.
            self._taken_over = None
            self._saver.first(sync)
            return
        try:
            sync()
        except OSError as error:
            raise Refused(
                tr("The text cannot be stored: {reason}", reason=atomic.reason(error))
            ) from error

    def _is_taken(self, path: str) -> bool:
        doc = self._host.session.doc
        if self._taken_over is not None and path == self._taken_over.path:
            return False
        try:
            other = self._drafts.find(path)
        except Refused:
            return True
        if other is None:
            return False
        is_same = other.slides in ((), doc.slides, doc.saved_slides)
        return not is_same or other.source not in (doc.source, doc.saved)

    def snapshot(self) -> SessionData:
        """Stash the work and return a snapshot of it, before something else is shown for a while.

        Raises:
            Refused: it cannot be stored.
        """
        self.stash()
        return self.look()

    def restore(self, kept: SessionData) -> None:
        """Restore a snapshot."""
        left, self._left = self._left, None
        self._restore(kept)
        if kept.doc.has_unsaved:
            self.adopt_draft(kept.doc.path)
        if left is not None and self._saver is not None:
            self._saver.then(left.drop)

    def _restore(self, kept: SessionData) -> None:
        host = self._host
        host.session.load(kept.doc, kept.view)
        host.editor.restore(kept.doc.source, kept.steps, kept.done)
        host.editor.set_caret(*kept.caret)
        host.editor.horizontalScrollBar().setValue(kept.scroll[0])
        host.editor.verticalScrollBar().setValue(kept.scroll[1])

    # Recovery

    def recover(self, path: str) -> bool:
        """Restore the work of a window that crashed, if there is any, and return whether it was.

        With a ``path``, only work on that file is restored. The rest is offered in the
        notification bar, and so is everything older than the draft that waits for this window.
        """
        mine, others, draft = None, [], self._drafts.order(path)
        for work in self.sessions.found():
            if work.kept is None:
                self._host.notices.post(Notice(f"spoilt {work.slot.path}", work.trouble))
            elif not _is_worth(work.kept):
                work.slot.drop()
            elif mine is None and work.order >= draft and path in ("", work.kept.doc.path):
                mine = work
            else:
                others.append(work)
        if mine is not None and not self._try_stash():
            others.insert(0, mine)
            mine = None
        if mine is not None:
            self._resume(mine)
        for work in others:
            self._offer(work)
        return mine is not None

    def _try_stash(self) -> bool:
        """Stash the current document; False if it cannot be stored and must stay open."""
        try:
            self.stash()
        except Refused:
            return False
        return True

    def _offer(self, work: RecoveredWork[SessionData]) -> None:
        assert work.kept is not None
        choices = ((tr("Open"), lambda: self._open(work)), (tr("Discard"), work.slot.drop))
        name, text = offered_name(work.kept.doc), _words(work.kept)
        self.offers.add(RecoveryOffer(str(work.slot.path), name, text, choices))

    def _open(self, work: RecoveredWork[SessionData]) -> None:
        try:
            self.stash()
        except Refused:
            self._offer(work)
            raise
        self._resume(work)

    def _resume(self, work: RecoveredWork[SessionData]) -> None:
        kept = work.kept
        assert kept is not None
        self._restore(kept)
        if self._saver is not None and not self._saver.flush():
            # This window's session file now has it, so the old one can go.
            work.slot.drop()
        choices = ((tr("Keep"), lambda: None), (tr("Discard"), lambda: self._discard(kept)))
        text, path = _words(kept), kept.doc.path
        offer = RecoveryOffer("resumed", kept.doc.title, text, choices, is_open=True, more=path)
        self.offers.add(offer, now=True)
        if path and documents.differs(Path(path), kept.doc.saved):
            self.file.notify_changed()

    def _discard(self, kept: SessionData) -> None:
        """Go back to the saved text; undo leads to the recovered one."""
        doc = self._host.session.doc
        if doc.path == kept.doc.path and doc.title == kept.doc.title:
            self._host.session.reload(doc.saved)
            self._host.say(tr("Discarded; undo brings it back"))

    # The end

    def leave(self) -> bool:
        """Store everything for the next start and release the files; False if the window must stay.

        It stays once, if nothing can be stored, so that the user can save the program elsewhere.
        """
        trouble = ""
        try:
            self.stash()
            self._settle()
        except Refused as refusal:
            trouble = str(refusal)
            if self._saver is not None and not self._saver.flush():
                # The session file has the work, and is offered at the next start.
                self._end(keep=True)
                return True
        if trouble and not self._warned:
            self._warned = True
            text = tr("{trouble}. Save it elsewhere, or close again to lose it.", trouble=trouble)
            choice = (tr("Save as…"), self._host.save_elsewhere)
            self._host.notices.show_now(Notice("leave", text, (choice,)))
            return False
        self._end(keep=False)
        return True

    def _settle(self) -> None:
        try:
            if self._saver is not None:
                self._saver.settle()
        except OSError as error:
            raise Refused(
                tr("The text cannot be stored: {reason}", reason=atomic.reason(error))
            ) from error

    def _end(self, *, keep: bool) -> None:
        self.file.close()
        if self._saver is not None and self._slot is not None:
            self._saver.close()
            if keep:
                self._slot.release()
            else:
                self._slot.drop()
        self._saver = self._slot = None


def _is_worth(kept: SessionData) -> bool:
    """Return whether a session contains text that is saved nowhere else."""
    doc = kept.doc
    if doc.lesson:
        return False
    if not doc.path or doc.slides != doc.saved_slides:
        return doc.has_unsaved
    return doc.source != doc.saved and documents.differs(Path(doc.path), doc.source)


def _words(kept: SessionData) -> str:
    at = time.localtime(kept.when)
    today = at[:3] == time.localtime()[:3]
    when = time.strftime("%H:%M" if today else "%d %b, %H:%M", at)
    return tr(
        "Recovered {title} with changes that were not saved, as of {when}",
        title=kept.doc.title,
        when=when,
    )
