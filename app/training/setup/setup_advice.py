"""Advice on a run's setup: shown in the form, followed by a press of its button."""

from collections.abc import Callable

from PySide6.QtCore import QObject

from gradscribe.app.training.page.page import TrainingPage
from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.training.session.state import RunState
from gradscribe.engine.protocol.setup import Setup, SetupError
from gradscribe.engine.protocol.training import Advice
from gradscribe.engine.protocol.training.advice import with_change
from gradscribe.playback.translation import ngettext, tr, translated
from gradscribe.widgets.base.single_shot import single_shot

MARGIN = 40
"""Pixels below a line that is scrolled into view: its button."""


class SetupAdvice(QObject):
    """Shows the current run's advice, and above the form how much of it is out of sight.

    ``edit`` is called with the setup that a piece of advice leads to.
    """

    def __init__(
        self,
        session: TrainSession,
        page: TrainingPage,
        edit: Callable[[Setup], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._session, self._page, self._edit = session, page, edit
        # Positions are known only after the layout has run.
        self._check_timer = single_shot(self, self._count_hidden)
        scrolls = page.sheet.verticalScrollBar()
        scrolls.valueChanged.connect(lambda _: self._check_timer.start())
        scrolls.rangeChanged.connect(lambda *_: self._check_timer.start())
        session.advised.connect(self.show_run)
        page.form.advice_followed.connect(self._follow)
        page.remarks.clicked.connect(self._reveal)

    def show_run(self, run: RunState) -> None:
        """Show the advice on a run if it is the current one; none on a run that has ended."""
        if run.run_id == self._session.store.look.run_id:
            self._page.form.show_advice(run.advice if run.alive else ())
            self._check_timer.start()

    def look(self) -> None:
        """Check again what is in sight: the page is shown."""
        self._check_timer.start()

    def _count_hidden(self) -> None:
        hidden = self._page.form.advice_out_of_sight()
        words = (
            tr(
                "{remarks} out of sight",
                remarks=ngettext("{count:,} remark", "{count:,} remarks", len(hidden)),
            )
            if hidden
            else ""
        )
        self._page.show_remarks(words)

    def _reveal(self) -> None:
        for line in self._page.form.advice_out_of_sight()[:1]:
            self._page.sheet.ensureWidgetVisible(line, 0, MARGIN)
            self._check_timer.start()

    def _follow(self, advice: Advice) -> None:
        """Make the change of a piece of advice; undoable like any other."""
        try:
            setup = with_change(self._session.setup, advice.change)
        except SetupError as error:
            self._session.said.emit(translated(str(error)))
        else:
            self._edit(setup)
