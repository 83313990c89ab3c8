"""Comparison of two long tapes in a worker thread, with a progress card and Cancel."""

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from gradscribe.app.runtime.delete_later import delete_when_idle
from gradscribe.app.ui.popup import PopupCard
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.graph.compare import Comparison
from gradscribe.playback.tape import scenes

INLINE_EVENTS = 1500
"""Most events of two tapes together that are compared in the GUI thread (some milliseconds)."""
SIZE = (420, 150)
STEPS = 200


class _Cancelled(Exception):
    """Raised in the worker thread when the comparison is cancelled."""


class _Job(QRunnable):
    """One comparison in the worker thread."""

    def __init__(self, work: "CompareWorker", left: Tape, right: Tape) -> None:
        super().__init__()
        self.work, self.tapes = work, (left, right)

    def run(self) -> None:
        """Compare; after an internal error emit None, so that the card does not wait for ever."""
        compared: Comparison | None = None
        try:
            compared = self._compared()
        except _Cancelled:
            return
        finally:
            if not self.work.over:
                self.work.finished.emit(compared)

    def _compared(self) -> Comparison:
        compared = Comparison(*self.tapes, told=self._tell)
        compared.compute_all()
        for index in (compared.left, compared.right):
            scenes.scenes(index)
        return compared

    def _tell(self, share: float) -> None:
        if self.work.over:
            raise _Cancelled
        self.work.progressed.emit(share)


class CompareWorker(QObject):
    """Compare two tapes in a worker thread, from `start` on."""

    finished = Signal(object)
    """Carries the `Comparison`; None after an internal error."""
    progressed = Signal(float)
    """Fraction done, 0 to 1."""

    def __init__(self, left: Tape, right: Tape, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.over = False
        self._tapes = left, right
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)

    def start(self) -> None:
        """Start the thread; connect `finished` before, since it may be emitted at once."""
        self._pool.start(_Job(self, *self._tapes))

    def close(self) -> None:
        """Cancel; the thread ends when it notices, and this object is deleted then."""
        self.over = True
        # The receivers may be deleted by then.
        self.blockSignals(True)
        delete_when_idle(self, self._pool)


class CompareProgressCard(PopupCard):
    """A card with the comparison's progress; closing it cancels the comparison."""

    compared = Signal(object)
    """Carries the `Comparison`."""

    def __init__(self, over: QWidget, left: Tape, right: Tape) -> None:
        super().__init__(over, *SIZE)
        self.card.setAccessibleName("Comparing two runs")
        heading = QLabel("Comparing two runs")
        heading.setProperty("role", "heading")
        count = len(left.events) + len(right.events)
        words = QLabel(f"{count:,} events, every value and every gradient to the bit")
        words.setProperty("role", "caption")
        words.setWordWrap(True)
        self.bar = QProgressBar()
        self.bar.setRange(0, STEPS)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("How far it is")
        self.cancel_button = QPushButton("Cancel")
        self.cancel_button.clicked.connect(self.leave)
        row = QHBoxLayout()
        row.addWidget(self.bar, 1)
        row.addWidget(self.cancel_button)
        for part in (heading, words):
            self.column.addWidget(part)
        self.column.addStretch(1)
        self.column.addLayout(row)
        self.work = CompareWorker(left, right, self)
        self.work.progressed.connect(lambda share: self.bar.setValue(round(STEPS * share)))
        self.work.finished.connect(self._finish)
        self.work.start()

    def leave(self) -> None:
        """Close the card and cancel a running comparison."""
        self.work.close()
        super().leave()

    def _finish(self, compared: object) -> None:
        if self.work.over:
            return
        self.leave()
        if isinstance(compared, Comparison):
            self.compared.emit(compared)
