"""One element of a parameter, chosen by the parameter's name and the element's index."""

from collections.abc import Sequence
from math import prod

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from engine.training import Parameter
from widgets.choice import Choice


class ElementPick(QWidget):
    """A parameter and an index such as ``0, 1``; what is typed wrongly goes back to what was."""

    chosen = Signal()

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.names = Choice()
        self.names.setAccessibleName(f"{title}: parameter")
        self.names.setToolTip(f"{title}: parameter")
        self.names.setMinimumWidth(86)
        self.index = QLineEdit("0")
        self.index.setAccessibleName(f"{title}: element")
        self.index.setFixedWidth(52)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.names)
        row.addWidget(self.index)
        self._parameters: tuple[Parameter, ...] = ()
        self._at: tuple[int, ...] = ()
        self.names.activated.connect(self._choose)
        self.index.editingFinished.connect(self._read)

    def set_parameters(self, parameters: Sequence[Parameter], flat: int) -> None:
        """Offer these; what was chosen stays if it is there, else the element ``flat`` is."""
        before, at = self.names.currentText(), self._at
        self._parameters = tuple(parameters)
        with QSignalBlocker(self.names):
            self.names.clear()
            self.names.addItems([one.name for one in parameters])
        place = self.names.findText(before) if before else -1
        if place >= 0 and fits(at, self._parameters[place].shape):
            self.names.setCurrentIndex(place)
            self._show(at)
            return
        for place, one in enumerate(self._parameters):
            if one.start <= flat < one.start + prod(one.shape):
                self.names.setCurrentIndex(place)
                self._show(unravel(flat - one.start, one.shape))

    def flat(self) -> int:
        """Return its place in the flat vector of all parameters; 0 without any."""
        one = self._parameter()
        if one is None:
            return 0
        place = 0
        for index, size in zip(self._at, one.shape, strict=True):
            place = place * size + index
        return one.start + place

    def title(self) -> str:
        """Return what it is called: ``0.weight[0, 1]``."""
        at = f"[{', '.join(map(str, self._at))}]" if self._at else ""
        return self.names.currentText() + at

    def _parameter(self) -> Parameter | None:
        at = self.names.currentIndex()
        return self._parameters[at] if 0 <= at < len(self._parameters) else None

    def _show(self, at: tuple[int, ...]) -> None:
        self._at = at
        one = self._parameter()
        self.index.setText(", ".join(map(str, at)))
        self.index.setEnabled(bool(at))
        size = " × ".join(map(str, one.shape)) if one is not None else ""
        self.index.setToolTip(f"Row by row, from 0, in {size}" if size else "")

    def _choose(self) -> None:
        one = self._parameter()
        if one is not None:
            self._show((0,) * len(one.shape))
            self.chosen.emit()

    def _read(self) -> None:
        one = self._parameter()
        words = self.index.text().replace("[", " ").replace("]", " ").replace(",", " ").split()
        at = tuple(int(word) for word in words if word.isascii() and word.isdigit())
        if one is None or len(at) != len(words) or not fits(at, one.shape):
            self._show(self._at)
        elif at != self._at:
            self._show(at)
            self.chosen.emit()


def fits(at: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether there is such an element."""
    return len(at) == len(shape) and all(i < size for i, size in zip(at, shape, strict=True))


def unravel(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the index of the element with that number, counted row by row."""
    found: list[int] = []
    for size in reversed(shape):
        found.append(flat % size)
        flat //= size
    return tuple(reversed(found))
