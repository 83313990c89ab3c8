"""Grid of toggle buttons, any number of which may be checked, in as many columns as fit."""

from collections.abc import Iterable

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QPushButton, QSizePolicy, QWidget

GAP = 4
MOST_COLUMNS = 4


class ChoiceGrid(QWidget):
    """A toggle button for each choice; never wider than its panel."""

    edited = Signal(object)
    """Carries the list of checked choices."""

    def __init__(self, choices: Iterable[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.buttons: dict[str, QPushButton] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(GAP)
        self._columns = 0
        self.offer(choices)

    def offer(self, choices: Iterable[str]) -> None:
        """Replace the buttons by one for each choice, all unchecked."""
        for button in self.buttons.values():
            self._grid.removeWidget(button)
            button.hide()
            button.deleteLater()
        self.buttons = {}
        for choice in choices:
            self._add(choice)
        self._columns = 0
        self._share()

    def _add(self, choice: str) -> None:
        button = self.buttons[choice] = QPushButton(choice, self)
        button.setProperty("crumb", True)
        button.setCheckable(True)
        # Their size hints would make the panel wider than its visible part.
        button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        button.clicked.connect(self._emit_choice)
        button.show()

    def choose(self, chosen: Iterable[str]) -> None:
        """Check these choices, adding buttons for unknown ones; emits nothing."""
        names = list(dict.fromkeys(chosen))
        others = [name for name in names if name not in self.buttons]
        for name in others:
            self._add(name)
        if others:
            self._columns = 0
            self._share()
        for name, button in self.buttons.items():
            button.setChecked(name in names)

    def _emit_choice(self) -> None:
        self.edited.emit([name for name, button in self.buttons.items() if button.isChecked()])

    def _share(self) -> None:
        """Put the buttons into as many columns as fit with the longest text."""
        widest = max((button.sizeHint().width() for button in self.buttons.values()), default=1)
        columns = max(1, min(MOST_COLUMNS, (self.width() + GAP) // (widest + GAP)))
        if columns == self._columns:
            return
        self._columns = columns
        for column in range(MOST_COLUMNS):
            self._grid.setColumnStretch(column, int(column < columns))
        for place, button in enumerate(self.buttons.values()):
            self._grid.addWidget(button, place // columns, place % columns)

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Lay the buttons out again; called by Qt."""
        super().resizeEvent(happened)
        self._share()

    def changeEvent(self, happened: QEvent) -> None:
        """Measure the texts again in another font; called by Qt."""
        super().changeEvent(happened)
        if happened.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._share()
