"""Announcements of the playback to assistive technology, an event at a time."""

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

from gradscribe.app.document.session import Session
from gradscribe.playback.tape import event_text
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.single_shot import single_shot

REST_MS = 600
"""Least time between announcements: speech cannot follow more events than that."""


class PlaybackAnnouncer(QObject):
    """Announce the event that is reached, politely, once per `REST_MS` at most.

    Of events that follow each other faster only the last is announced, when the playback rests. A
    position that moves because another run has come is not announced: it is not what plays.
    """

    def __init__(self, session: Session, source: QWidget) -> None:
        """Announce the positions of ``session`` as events of the widget ``source``."""
        super().__init__(source)
        self._session, self._source = session, source
        self._tape, self._position = session.result.tape, session.view.position
        self._is_pending = False
        self._rest = single_shot(self, self._end_rest, REST_MS)
        session.moved.connect(self._note)

    def _note(self, position: int) -> None:
        tape, before = self._session.result.tape, (self._tape, self._position)
        self._tape, self._position = tape, position
        if not QAccessible.isActive() or tape is not before[0] or position == before[1]:
            return
        if self._rest.isActive():
            self._is_pending = True
        else:
            self._announce()
        self._rest.start()

    def _end_rest(self) -> None:
        if self._is_pending:
            self._announce()

    def _announce(self) -> None:
        self._is_pending = False
        tape, position = self._session.result.tape, self._session.view.position
        words = (
            event_text.ledger_text(index_of(tape), position - 1)
            if position
            else tr("Start of the tape, nothing has run")
        )
        spoken = QAccessibleAnnouncementEvent(self._source, words)
        spoken.setPoliteness(QAccessible.AnnouncementPoliteness.Polite)
        QAccessible.updateAccessibility(spoken)
