"""What is wrong with a set-up: told at the setting, and above the columns where it is not seen."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from app.training import pictures
from app.training.own_data import OwnData
from app.training.room import TrainingRoom
from app.training.session import TrainSession
from widgets.once import once


class Complaints(QObject):
    """Puts the complaint of a session into its place in the training room."""

    changed = Signal()
    """What is to be told above the columns is something else now."""

    def __init__(
        self, session: TrainSession, room: TrainingRoom, own: OwnData, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._room, self._own = session, room, own
        self._note: QWidget | None = None
        """Where it stands in the form."""
        self.above = ""
        """What is to be told above the columns: it has no setting, or that is out of sight."""
        # Where things stand is known once they have been laid out.
        self._looking = once(self, self._look)
        scrolls = room.sheet.verticalScrollBar()
        scrolls.valueChanged.connect(lambda _: self._looking.start())
        scrolls.rangeChanged.connect(lambda *_: self._looking.start())
        room.there.clicked.connect(self._go)

    def tell(self, place: str, why: str) -> None:
        """Tell ``why`` at its ``place`` in the set-up; an empty text takes it away."""
        room, own = self._room, self._own
        asked = own.asked(place) if why else None
        stands = room.form.knows(place) and not own.has_told(place) and asked is None
        self._note = room.form.complain(place, why if stands else "")
        # Columns have no setting of their own but the target's.
        room.form.ask("data.path" if place == "data.path" else "data.target", asked or "")
        run = self._session.run
        if why and run is not None and run.begun is None:
            # What is seen is of the run before: this one has nothing to show.
            pictures.clear(room)
        self._say(why if why and not room.form.knows(place) else "")
        self._looking.start()

    def look(self) -> None:
        """See anew what is in sight: the room is shown."""
        self._looking.start()

    def _look(self) -> None:
        note, why = self._note, self._session.complaint[1]
        if note is not None and not isValid(note):
            # Another part was picked, which lacks that setting.
            self._note = None
            self._say(why)
            return
        if note is None or not note.isVisible():
            return
        words = "" if note.visibleRegion().boundingRect().height() else why
        if words != self.above:
            self._say(words)

    def _say(self, words: str) -> None:
        self.above = words
        self._room.there.setVisible(bool(words) and self._note is not None)
        self.changed.emit()

    def _go(self) -> None:
        if self._note is not None:
            self._room.sheet.ensureWidgetVisible(self._note, 0, 60)
