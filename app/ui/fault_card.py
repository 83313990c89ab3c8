"""A card in the corner that reports internal errors and offers a report to copy."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, QRect
from PySide6.QtGui import QAccessible, QAccessibleEvent, QGuiApplication
from PySide6.QtWidgets import QCheckBox, QFrame, QHBoxLayout, QPushButton, QWidget

from gradscribe.app.document.session import Session
from gradscribe.app.runtime.faults import Fault, FaultHandler, report
from gradscribe.app.runtime.version import version
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.labels import plain_label

WIDTH = 360
MARGIN = 20
MAX_FAULTS = 20
"""Most different faults in one report."""


class FaultCard(QFrame):
    """A non-modal card that reports faults."""

    def __init__(
        self, over: QWidget, write: Callable[[Fault, bool], str], ground: QWidget | None = None
    ) -> None:
        """Float in the corner of ``over``, or of ``ground`` while ``over`` is hidden."""
        super().__init__(ground or over)
        self._ground, self._over, self._write = ground or over, over, write
        self._faults: list[Fault] = []
        self.setProperty("panel", True)
        self.setAccessibleName(tr("Something went wrong"))
        self.title = plain_label(tr("Something went wrong in Gradscribe"), "title")
        self.about = plain_label(role="caption")
        self.about.setWordWrap(True)
        self.private = QCheckBox(tr("Include my program and the message"))
        self.private.setToolTip(
            tr("Either may hold what you wrote; without them a report has neither")
        )
        self.copy_button = QPushButton(tr("Copy report"))
        self.copy_button.clicked.connect(self.copy)
        self.close_button = QPushButton(tr("Close"))
        self.close_button.setProperty("quiet", True)
        self.close_button.clicked.connect(self._leave)
        column = vbox(self, margins=(16, 14, 16, 12), spacing=8)
        for part in (self.title, self.about, self.private):
            column.addWidget(part)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.close_button)
        row.addWidget(self.copy_button)
        column.addLayout(row)
        for widget in {self._ground, over}:
            widget.installEventFilter(self)
        self.hide()

    def show_fault(self, fault: Fault) -> None:
        """Show a fault; several share the card."""
        if len(self._faults) < MAX_FAULTS:
            self._faults.append(fault)
        first, others = self._faults[0], len(self._faults) - 1
        words = tr("You can go on, and nothing is lost. {type}", type=first.type)
        if first.place:
            words += tr(" at {place}", place=first.place)
        if others:
            words += tr(", and {others} more", others=others)
        self.about.setText(words)
        self.copy_button.setText(tr("Copy report"))
        if self.isHidden():
            self.private.setChecked(False)
            self.show()
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))
        self._settle()
        self.raise_()

    def report(self) -> str:
        """Return the report as it would be copied now."""
        private = self.private.isChecked()
        return "\n".join(self._write(fault, private) for fault in self._faults)

    def copy(self) -> None:
        """Put the report on the clipboard."""
        QGuiApplication.clipboard().setText(self.report())
        self.copy_button.setText(tr("Copied"))

    def _leave(self) -> None:
        self._faults = []
        self.hide()

    def _settle(self) -> None:
        place = self._over if self._over.isVisible() else self._ground
        room = QRect(place.mapTo(self._ground, QPoint()), place.size())
        self.setFixedWidth(max(1, min(WIDTH, room.width() - 2 * MARGIN)))
        self.adjustSize()
        self.move(room.right() - self.width() - MARGIN, room.bottom() - self.height() - MARGIN)

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Stay in the corner; called by Qt."""
        kinds = (QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide)
        if happened.type() in kinds and not self.isHidden():
            # Another page was entered, or the window was resized.
            self._settle()
            self.raise_()
        return super().eventFilter(watched, happened)


def show_crash(
    session: Session, columns: QWidget, ground: QWidget, faults: FaultHandler
) -> FaultCard:
    """Show every fault from now on in a card, including those of the engine.

    It floats over ``columns``, all but the bars, or over ``ground`` on the other pages.
    """

    def write(fault: Fault, private: bool) -> str:
        count = faults.count(fault)
        often = tr("It happened {count} times.\n", count=count) if count > 1 else ""
        texts = [session.doc.source] if private else None
        return report(fault, version(), session.result.torch, texts) + often

    def listen() -> None:
        problem = session.result.problem
        if problem is not None and problem.trace and problem is not last[-1]:
            last[-1] = problem
            faults.note(Fault(problem.type, problem.message, problem.trace, "the engine"))

    last: list[object] = [None]
    card = FaultCard(columns, write, ground)
    faults.caught.connect(card.show_fault)
    session.result_changed.connect(listen)
    return card
