"""Buttons of which any may be down, in as many columns as there is room for."""

from collections.abc import Iterable

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QPushButton, QSizePolicy, QWidget

GAP = 4
MOST_COLUMNS = 4


class ChoiceGrid(QWidget):
    """A button for each choice; it is never wider than its panel."""

    edited = Signal(object)
    """The choices that are made now, as a list."""

    def __init__(self, choices: Iterable[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.buttons: dict[str, QPushButton] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(GAP)
        self._columns = 0
        self.offer(choices)

    def offer(self, choices: Iterable[str]) -> None:
        """Have a button for each of these, none of them down, in place of those of before."""
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
        # Their own widths would widen the panel beyond what is seen of it.
        button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        button.clicked.connect(self._tell)
        button.show()

    def choose(self, chosen: Iterable[str]) -> None:
        """Show these as chosen, also those that are not offered; emits nothing."""
        names = list(dict.fromkeys(chosen))
        others = [name for name in names if name not in self.buttons]
        for name in others:
            self._add(name)
        if others:
            self._columns = 0
            self._share()
        for name, button in self.buttons.items():
            button.setChecked(name in names)

    def _tell(self) -> None:
        self.edited.emit([name for name, one in self.buttons.items() if one.isChecked()])

    def _share(self) -> None:
        """Put the buttons into as many columns as hold the longest of their words."""
        widest = max((one.sizeHint().width() for one in self.buttons.values()), default=1)
        columns = max(1, min(MOST_COLUMNS, (self.width() + GAP) // (widest + GAP)))
        if columns == self._columns:
            return
        self._columns = columns
        for column in range(MOST_COLUMNS):
            self._grid.setColumnStretch(column, int(column < columns))
        for place, button in enumerate(self.buttons.values()):
            self._grid.addWidget(button, place // columns, place % columns)

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Share the room anew; called by Qt."""
        super().resizeEvent(happened)
        self._share()

    def changeEvent(self, happened: QEvent) -> None:
        """Measure the words again in another font; called by Qt."""
        super().changeEvent(happened)
        if happened.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._share()
