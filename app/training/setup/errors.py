"""Errors of a set-up: shown at the setting, and above the columns while that is out of sight."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from gradscribe.app.training.page.page import TrainingPage
from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.training.setup.own_data import OwnData
from gradscribe.widgets.base.single_shot import single_shot


class SetupErrors(QObject):
    """Shows the error of a session at the right place of the training page."""

    changed = Signal()
    """The message above the columns changed."""

    def __init__(
        self, session: TrainSession, page: TrainingPage, own: OwnData, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._session, self._page, self._own = session, page, own
        self._note: QWidget | None = None
        """The label in the form that shows the error."""
        self.above = ""
        """The message above the columns: its setting does not exist, or is out of sight."""
        # Positions are known only after the layout has run.
        self._check_timer = single_shot(self, self._check_visible)
        scrolls = page.sheet.verticalScrollBar()
        scrolls.valueChanged.connect(lambda _: self._check_timer.start())
        scrolls.rangeChanged.connect(lambda *_: self._check_timer.start())
        page.there.clicked.connect(self._reveal)

    def show(self, place: str, why: str) -> None:
        """Show ``why`` at the setting ``place``; an empty text removes it."""
        page, own = self._page, self._own
        asked = own.asked(place) if why else None
        stands = page.form.has_setting(place) and not own.shows_error(place) and asked is None
        self._note = page.form.show_error(place, why if stands else "")
        # Columns have no setting except the target's.
        page.form.ask("data.path" if place == "data.path" else "data.target", asked or "")
        run = self._session.run
        if why and run is not None and run.begun is None:
            # The views still show the run before: this run has nothing to show.
            page.clear_views()
        self._set_above(why if why and not page.form.has_setting(place) else "")
        self._check_timer.start()

    def look(self) -> None:
        """Check again what is in sight: the page is shown."""
        self._check_timer.start()

    def _check_visible(self) -> None:
        note, why = self._note, self._session.store.error[1]
        if note is not None and not isValid(note):
            # Another part was picked, without that setting.
            self._note = None
            self._set_above(why)
            return
        if note is None or not note.isVisible():
            return
        words = "" if note.visibleRegion().boundingRect().height() else why
        if words != self.above:
            self._set_above(words)

    def _set_above(self, words: str) -> None:
        self.above = words
        self._page.there.setVisible(bool(words) and self._note is not None)
        self.changed.emit()

    def _reveal(self) -> None:
        if self._note is not None:
            self._page.sheet.ensureWidgetVisible(self._note, 0, 60)
