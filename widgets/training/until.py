"""Until when to train: a small panel under a button."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QWidget,
    QWidgetAction,
)

from engine.training import Until
from engine.training.asks import Condition
from widgets.training.numbers import NumberField

CONDITIONS: tuple[tuple[Condition, str, float, str], ...] = (
    ("step", "step", 1000.0, "The step at which to pause"),
    ("loss_below", "the loss is below", 0.05, "Mean of the last 20 steps"),
    ("plateau", "no better for … steps", 200.0, "Steps without a better loss"),
    ("nan", "the loss is NaN", 0.0, "The run pauses before the step that made it"),
)


class UntilMenu(QMenu):
    """A condition, its number, and a button that starts."""

    chosen = Signal(object)
    """The `Until` to train for."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        inside = QWidget()
        self.condition = QComboBox()
        self.condition.setAccessibleName("Condition")
        for kind, title, _value, tip in CONDITIONS:
            self.condition.addItem(title, kind)
            self.condition.setItemData(self.condition.count() - 1, tip, 3)
        self.number = NumberField("Number", whole=False, low=0.0)
        self.number.setFixedWidth(90)
        self.go = QPushButton("Train")
        self.go.setProperty("primary", True)
        row = QHBoxLayout(inside)
        row.setContentsMargins(12, 8, 12, 8)
        row.setSpacing(8)
        row.addWidget(QLabel("Train until"))
        for part in (self.condition, self.number, self.go):
            row.addWidget(part)
        action = QWidgetAction(self)
        action.setDefaultWidget(inside)
        self.addAction(action)
        self.condition.currentIndexChanged.connect(self._suggest)
        self.go.clicked.connect(self._choose)
        self._suggest(0)

    def _suggest(self, index: int) -> None:
        kind, _title, value, _tip = CONDITIONS[index]
        self.number.set_number(value)
        self.number.setVisible(kind != "nan")

    def _choose(self) -> None:
        kind = CONDITIONS[self.condition.currentIndex()][0]
        value = self.number.number()
        self.chosen.emit(Until(kind, float(value or 0.0)))
        self.close()
