"""Comparison of two long tapes in a worker thread, with a progress card and Cancel."""

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QWidget

from gradscribe.app.runtime.worker import PROGRESS_STEPS, BackgroundTask, BackgroundWorker
from gradscribe.app.ui.popup import PopupCard
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.compare.comparison import Comparison
from gradscribe.playback.tape import scenes
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.labels import plain_label

INLINE_EVENTS = 1500
"""Most events of two tapes together that are compared in the GUI thread (some milliseconds)."""
SIZE = (420, 150)


def compare_all(left: Tape, right: Tape, task: BackgroundTask) -> Comparison:
    """Return the whole comparison, with what the window needs of both tapes."""
    compared = Comparison(left, right, told=task.report)
    compared.compute_all()
    for index in (compared.left, compared.right):
        scenes.scenes(index)
    return compared


class CompareProgressCard(PopupCard):
    """A card with the comparison's progress; closing it cancels the comparison."""

    compared = Signal(object)
    """Carries the `Comparison`."""

    def __init__(self, over: QWidget, left: Tape, right: Tape) -> None:
        super().__init__(over, *SIZE)
        self.card.setAccessibleName(tr("Comparing two runs"))
        heading = plain_label(tr("Comparing two runs"), "heading")
        count = len(left.events) + len(right.events)
        words = plain_label(
            tr("{count:,} events, every value and every gradient to the bit", count=count),
            "caption",
        )
        words.setWordWrap(True)
        self.bar = QProgressBar()
        self.bar.setRange(0, PROGRESS_STEPS)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("How far it is"))
        self.cancel_button = QPushButton(tr("Cancel"))
        self.cancel_button.clicked.connect(self.leave)
        row = QHBoxLayout()
        row.addWidget(self.bar, 1)
        row.addWidget(self.cancel_button)
        for part in (heading, words):
            self.column.addWidget(part)
        self.column.addStretch(1)
        self.column.addLayout(row)
        self.worker = BackgroundWorker(self)
        self.worker.request(
            lambda task: compare_all(left, right, task), self._finish, self._show_progress
        )

    def leave(self) -> None:
        """Close the card and cancel a running comparison."""
        self.worker.close_later()
        super().leave()

    def _show_progress(self, share: float) -> None:
        self.bar.setValue(round(PROGRESS_STEPS * share))

    def _finish(self, result: Callable[[], Comparison]) -> None:
        # After an internal error, too: the card must not wait for ever.
        self.leave()
        self.compared.emit(result())
