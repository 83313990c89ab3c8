"""The tab with the selected tensor over the steps of the program's loop."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from gradscribe.app.document.clock import PlaybackClock
from gradscribe.app.document.session import Session
from gradscribe.app.ui.loops.chart_making import make_loop_chart
from gradscribe.app.ui.theming import Theming
from gradscribe.playback.graph.picture import Card
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.loops.steps import steps_of
from gradscribe.playback.tape.loops.tensor_history import TensorHistory, tensor_history
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.tabs import PanelTabs
from gradscribe.widgets.base.time_slices import TimeSlices

if TYPE_CHECKING:
    from gradscribe.widgets.charts.loop_chart import LoopChart

TURN_MS = 8
TITLE = tr("History")
NOTHING = tr("Click a card: its tensor is drawn here over the steps of the loop.")
SEARCHING = tr("The history is being read…")


class HistoryTab(QObject):
    """Follow the selected card, and draw its value and gradient at each step.

    A click on a card brings the tab to the front until the user turns to another one.
    """

    said = Signal(str)

    def __init__(
        self,
        session: Session,
        clock: PlaybackClock,
        look: Theming,
        tabs: PanelTabs,
        card: Callable[[], Card | None],
    ) -> None:
        super().__init__(tabs)
        self._session, self._clock, self._look, self._tabs = session, clock, look, tabs
        self._card = card
        self.history = TensorHistory("")
        """The history that is shown."""
        self.chart: LoopChart | None = None
        """Made when the tab is first shown."""
        self._shown: tuple[int, str] = (0, "")
        """Run and card of the history."""
        self.words = Label("caption", NOTHING)
        self.words.setContentsMargins(12, 10, 12, 8)
        self.page = QWidget(tabs)
        self.page.setObjectName("history")
        self._rows = vbox(self.page, self.words)
        self._rows.setAlignment(self.words, Qt.AlignmentFlag.AlignTop)
        self.page.hide()
        self._left = False
        """True once the user has turned from the history to another tab."""
        self._reading = TimeSlices(TURN_MS, self)
        session.tape_changed.connect(self._settle)
        session.view_changed.connect(self._follow)
        session.moved.connect(self._move)
        tabs.currentChanged.connect(self._turn)
        tabs.tabBarClicked.connect(self._choose)
        tabs.pages.triggered.connect(lambda _action: self._choose(tabs.currentIndex()))

    @property
    def is_busy(self) -> bool:
        """True while a history is being read or its chart is being made."""
        return self._reading.busy

    def can_show(self) -> bool:
        """Return whether a card with a tensor is selected, and the program has steps."""
        card = self._card()
        return card is not None and card.value is not None and self._has_steps()

    def show(self) -> None:
        """Bring the history of the selected card to the front."""
        self._left = False
        self._open()
        if self.chart is not None:
            self.chart.chart.view.setFocus()

    def pick(self, key: str) -> None:
        """Show the history of a card that was clicked, unless the user has turned from it."""
        if key and self._has_steps() and not self._left:
            self._open()

    def close(self) -> None:
        """Stop all work."""
        self._reading.stop()

    def _has_steps(self) -> bool:
        return len(steps_of(self._session.result.tape)) > 0

    def _open(self) -> None:
        if self._tabs.indexOf(self.page) < 0:
            self._tabs.addTab(self.page, TITLE)
        self._tabs.setCurrentWidget(self.page)
        self._follow()

    def _choose(self, place: int) -> None:
        self._left = self._tabs.widget(place) is not self.page

    def _turn(self) -> None:
        if self._tabs.is_open(self.page):
            self._follow()

    def _settle(self) -> None:
        """Take up a new tape: read the history again, or leave without steps."""
        self._reading.stop()
        at = self._tabs.indexOf(self.page)
        if at >= 0 and not self._has_steps():
            self._tabs.removeTab(at)

    def _follow(self) -> None:
        """Read the history of the selected card, if the tab shows another one."""
        if not self._tabs.is_open(self.page):
            return
        card, result = self._card(), self._session.result
        if card is None or card.value is None or not self._has_steps():
            return
        wanted, before = (result.shown_id, card.key), self._shown
        if wanted[0] == before[0]:
            # The same card of another step has another value and the same history.
            if self._reading.busy and wanted[1] == before[1]:
                return
            if not self._reading.busy and self.history.is_of(index_of(result.tape), card.value):
                return
        self._shown = wanted
        # Another run of the same card leaves the curves so far, pale.
        again = wanted[0] != before[0] and wanted[1] == before[1]
        self._reading.run(self._read(card.value, again))

    def _read(self, value: int, again: bool) -> Iterator[None]:
        index = index_of(self._session.result.tape)
        if self.chart is None:
            self.words.say(SEARCHING)
            self.chart = yield from make_loop_chart(self._rows, self._look, self._clock, self.said)
        self.history = yield from tensor_history(index, value)
        chart, history = self.chart, self.history
        assert chart is not None
        self.words.say(history.note)
        self.words.setVisible(bool(history.note))
        chart.setVisible(not history.note)
        chart.set_series(history.series, "", again, steps_of(index))
        chart.set_position(self._session.view.position)

    def _move(self) -> None:
        if self.chart is not None and self._tabs.is_open(self.page):
            self._follow()
            self.chart.set_position(self._session.view.position)
