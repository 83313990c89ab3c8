"""Opens the window with measured costs, and has them measured by the engine."""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from gradscribe.app.document.session import Session
from gradscribe.app.ui.theming import Theming
from gradscribe.engine.protocol.messages import CostKind, MeasuredCosts
from gradscribe.playback.text.cost_words import TITLES, cost_cells, cost_words
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.open_windows import bring_to_front
from gradscribe.widgets.tables.cost_window import CostWindow

STALE = tr("The shown run is not that of the text: run it first, then measure again.")
NEWER = tr("The program ran again since; measure again for its newest run.")
LOST = tr("Python ended; run the program and measure again.")


class ProgramCosts(QObject):
    """Own the window with the costs of the program's computation, made when first shown."""

    def __init__(self, session: Session, owner: QWidget, look: Theming) -> None:
        super().__init__(owner)
        self._session, self._owner, self._look = session, owner, look
        self.window: CostWindow | None = None
        self._kind: CostKind = "no_grad"
        self._is_waiting = False
        session.costs_measured.connect(self._take)
        session.tape_changed.connect(self._notice_run)
        session.result_changed.connect(self._notice_engine)

    def can_show(self) -> bool:
        """Return whether the shown program has a backward pass."""
        return bool(self._session.result.tape.passes)

    def show(self, kind: CostKind) -> None:
        """Show the window, or raise it, and measure."""
        if self.window is None:
            self.window = CostWindow(self._owner)
            self.window.again_pressed.connect(self.measure)
            self._look.add(self.window)
        if not self._is_waiting:
            self._kind = kind
            self.window.set_topic(TITLES[kind])
        self.window.show()
        bring_to_front(self.window)
        self.measure()

    def measure(self) -> None:
        """Have the costs measured, unless a measurement is on its way."""
        if self.window is None or self._is_waiting:
            return
        result = self._session.result
        if result.stale or result.shown_id <= 0:
            self.window.show_costs((), STALE)
            return
        self._is_waiting = True
        self.window.set_waiting(True)
        self._session.measure_costs(self._kind)

    def _take(self, answer: object) -> None:
        if self.window is None or not isinstance(answer, MeasuredCosts) or not self._is_waiting:
            return
        self._end()
        self.window.show_costs(cost_cells(answer), cost_words(answer))

    def _notice_run(self) -> None:
        """Note that another run is shown: the numbers are no longer those of the program."""
        if self.window is not None and self.window.isVisible():
            self._end()
            self.window.show_costs((), NEWER)

    def _notice_engine(self) -> None:
        if self._is_waiting and self._session.result.engine == "starting":
            self._end()
            if self.window is not None:
                self.window.show_costs((), LOST)

    def _end(self) -> None:
        self._is_waiting = False
        if self.window is not None:
            self.window.set_waiting(False)
