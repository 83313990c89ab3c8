"""Menu for a stop condition: train until a step or a loss is reached."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QGridLayout,
    QLabel,
    QMenu,
    QPushButton,
    QStackedWidget,
    QWidget,
    QWidgetAction,
)

from gradscribe.engine.protocol.training import StopCondition
from gradscribe.engine.protocol.training.requests import ConditionKind
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.choice import Choice
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.training.setup.number_field import NumberField

CONDITIONS: tuple[tuple[ConditionKind, str, float, str], ...] = (
    ("step", "step", 1000.0, tr("The step at which to pause")),
    ("loss_below", tr("the loss is below"), 0.05, tr("Mean of the last 20 steps")),
    ("plateau", tr("no better for … steps"), 200.0, tr("Steps without a better loss")),
    ("nan", tr("the loss is NaN"), 0.0, tr("The run pauses before the step that made it")),
    (
        "solved",
        tr("it is solved"),
        0.0,
        tr("The mean of the last 20 losses is as low as it has to be"),
    ),
)


class StopMenu(QMenu):
    """A condition, its number, and a button that starts training, as Return in the number does."""

    chosen = Signal(object)
    """Carries the chosen `StopCondition`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._inside = QWidget()
        self.condition = Choice()
        self.condition.setAccessibleName(tr("Condition"))
        self.numbers: dict[ConditionKind, NumberField] = {}
        """The number field of each condition that needs a number."""
        # As wide without a number, so that the button does not move.
        self._fields = QStackedWidget()
        self._fields.setFixedWidth(90)
        self.problem = Label("error")
        self.go = QPushButton(tr("Train"))
        self.go.setProperty("primary", True)
        row = QGridLayout(self._inside)
        row.setContentsMargins(12, 8, 12, 8)
        row.setSpacing(8)
        row.addWidget(QLabel(tr("Train until")), 0, 0)
        row.addWidget(self.condition, 0, 1)
        for kind, title, value, tip in CONDITIONS:
            self.condition.addItem(title, kind)
            self.condition.setItemData(self.condition.count() - 1, tip, 3)
            if kind not in ("nan", "solved"):
                self.numbers[kind] = self._number(kind, value, tip)
            self._fields.addWidget(self.numbers.get(kind) or QWidget())
        row.addWidget(self._fields, 0, 2)
        row.addWidget(self.go, 0, 3)
        row.setColumnStretch(1, 1)
        row.addWidget(self.problem, 1, 0, 1, 4)
        self._action = QWidgetAction(self)
        self._action.setDefaultWidget(self._inside)
        self.addAction(self._action)
        self.condition.currentIndexChanged.connect(self._turn)
        self.go.clicked.connect(self._choose)
        self._turn()

    def offer_step_after(self, step: int) -> None:
        """Offer a round step after ``step`` if the number shown has been passed."""
        field = self.numbers["step"]
        if float(field.number or 0) <= step:
            unit = max(1000, 10 ** (len(str(step)) - 1))
            field.set_number((step // unit + 1) * unit)

    def showEvent(self, happened: QShowEvent) -> None:
        """Select the number, ready to be replaced; called by Qt."""
        super().showEvent(happened)
        field = self.numbers.get(self._kind)
        if field is not None:
            field.field.setFocus(Qt.FocusReason.PopupFocusReason)
            field.field.selectAll()

    @property
    def _kind(self) -> ConditionKind:
        return CONDITIONS[self.condition.currentIndex()][0]

    def _number(self, kind: ConditionKind, value: float, tip: str) -> NumberField:
        counts = kind != "loss_below"
        field = NumberField(tr("Number"), whole=counts, low=1 if counts else 0.0)
        field.setToolTip(tip)
        field.set_number(int(value) if counts else value)
        field.refused.connect(self._say)
        field.field.returnPressed.connect(self._choose)
        return field

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """Handle Return for the button: a menu would close without any effect."""
        if happened.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(happened)
        elif self.go.hasFocus():
            self._choose()

    def focusNextPrevChild(self, ahead: bool) -> bool:
        """Cycle through the panel: a menu would move on to its actions; called by Qt."""
        field = self.numbers.get(self._kind)
        stops = [self.condition, *([field.field] if field is not None else []), self.go]
        at = QApplication.focusWidget()
        here = stops.index(at) if at in stops else (-1 if ahead else 0)
        reason = Qt.FocusReason.TabFocusReason if ahead else Qt.FocusReason.BacktabFocusReason
        stops[(here + (1 if ahead else -1)) % len(stops)].setFocus(reason)
        return True

    def _turn(self) -> None:
        """Show the number field of the chosen condition."""
        self._fields.setCurrentIndex(self.condition.currentIndex())
        self._say("")

    def _say(self, problem: str) -> None:
        self.problem.say(problem)
        self.problem.setVisible(bool(problem))
        self._inside.adjustSize()
        # A menu measures its contents again when the action's text changes.
        self._action.setText(problem)

    def _choose(self) -> None:
        field = self.numbers.get(self._kind)
        if field is not None:
            field.take_text()
            if self.problem.said():
                return
        value = field.number if field is not None else None
        self.chosen.emit(StopCondition(self._kind, float(value or 0.0)))
        self.close()
