"""Selector for an element of a parameter, by the parameter's name and the element's index."""

from collections.abc import Sequence
from math import prod

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from gradscribe.engine.protocol.training import Parameter
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import hbox
from gradscribe.widgets.base.choice import Choice


class ElementPicker(QWidget):
    """A parameter and an index such as ``0, 1``; invalid input is reset to the last index."""

    chosen = Signal()

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.names = Choice()
        self.names.setAccessibleName(tr("{title}: parameter", title=title))
        self.names.setToolTip(tr("{title}: parameter", title=title))
        self.names.setMinimumWidth(86)
        self.index = QLineEdit("0")
        self.index.setAccessibleName(tr("{title}: element", title=title))
        self.index.setFixedWidth(52)
        row = hbox(self, spacing=4)
        row.addWidget(self.names)
        row.addWidget(self.index)
        self._parameters: tuple[Parameter, ...] = ()
        self._at: tuple[int, ...] = ()
        self.names.activated.connect(self._choose)
        self.index.editingFinished.connect(self._read)

    def set_parameters(self, parameters: Sequence[Parameter], flat: int) -> None:
        """Offer ``parameters``; keep the chosen element if it exists, else choose ``flat``."""
        before, at = self.names.currentText(), self._at
        self._parameters = tuple(parameters)
        with QSignalBlocker(self.names):
            self.names.clear()
            self.names.addItems([parameter.name for parameter in parameters])
        place = self.names.findText(before) if before else -1
        if place >= 0 and is_valid_index(at, self._parameters[place].shape):
            self.names.setCurrentIndex(place)
            self._show(at)
            return
        for place, found in enumerate(self._parameters):
            if found.start <= flat < found.start + prod(found.shape):
                self.names.setCurrentIndex(place)
                self._show(unravel(flat - found.start, found.shape))

    def flat(self) -> int:
        """Return the element's index in the flat vector of all parameters; 0 without any."""
        parameter = self._parameter()
        if parameter is None:
            return 0
        place = 0
        for index, size in zip(self._at, parameter.shape, strict=True):
            place = place * size + index
        return parameter.start + place

    def title(self) -> str:
        """Return the element's name: ``0.weight[0, 1]``."""
        at = f"[{', '.join(map(str, self._at))}]" if self._at else ""
        return self.names.currentText() + at

    def _parameter(self) -> Parameter | None:
        at = self.names.currentIndex()
        return self._parameters[at] if 0 <= at < len(self._parameters) else None

    def _show(self, at: tuple[int, ...]) -> None:
        self._at = at
        parameter = self._parameter()
        self.index.setText(", ".join(map(str, at)))
        self.index.setEnabled(bool(at))
        size = " × ".join(map(str, parameter.shape)) if parameter is not None else ""
        self.index.setToolTip(tr("Row by row, from 0, in {size}", size=size) if size else "")

    def _choose(self) -> None:
        parameter = self._parameter()
        if parameter is not None:
            self._show((0,) * len(parameter.shape))
            self.chosen.emit()

    def _read(self) -> None:
        parameter = self._parameter()
        words = self.index.text().replace("[", " ").replace("]", " ").replace(",", " ").split()
        at = tuple(int(word) for word in words if word.isascii() and word.isdigit())
        if parameter is None or len(at) != len(words) or not is_valid_index(at, parameter.shape):
            self._show(self._at)
        elif at != self._at:
            self._show(at)
            self.chosen.emit()


def is_valid_index(at: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Return whether ``at`` is a valid index into ``shape``."""
    return len(at) == len(shape) and all(i < size for i, size in zip(at, shape, strict=True))


def unravel(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the index of the element with the row-major number ``flat``."""
    found: list[int] = []
    for size in reversed(shape):
        found.append(flat % size)
        flat //= size
    return tuple(reversed(found))
