"""Editor of a network's hidden layers: a row per layer, with + and − for layers and units."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QGridLayout, QLabel, QPushButton, QSizePolicy, QWidget

from gradscribe.playback.text.formatting import MINUS
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base.boxes import hbox, vbox
from gradscribe.widgets.base.choice import Choice
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.training.wheel_filter import ignore_wheel

MOST_LAYERS = 12
AT_ONCE = 3
"""Rows that are built in a turn of the event loop: a file may hold a model of 32 layers."""
USUAL_WIDTH = 8


def small_button(sign: str, name: str) -> QPushButton:
    """Return a small square button."""
    button = QPushButton(sign)
    button.setProperty("crumb", True)
    button.setFixedWidth(28)
    set_sheet(button, "padding: 2px 0px; font-weight: 600;")
    button.setAccessibleName(name)
    button.setToolTip(name)
    return button


class LayersEditor(QWidget):
    """Hidden layers as a list of widths from ``low`` to ``high``."""

    edited = Signal(object)
    """Carries the edited list of widths."""
    named = Signal(object)
    """Carries the list of chosen names, one for each layer."""

    def __init__(self, low: int = 1, high: int = 1024, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._low, self._high = low, high
        self.widths: list[int] = []
        self._names: list[str] = []
        self._title = ""
        self._offered: tuple[str, ...] = ()
        self.more = small_button("+", tr("One layer more"))
        self.fewer = small_button(MINUS, tr("One layer fewer"))
        self.more.clicked.connect(self._add)
        self.fewer.clicked.connect(self._remove)
        self._count = QLabel()
        self._count.setProperty("role", "caption")
        head = hbox(None, spacing=6)
        head.addWidget(self.fewer)
        head.addWidget(self.more)
        head.addWidget(self._count, 1)
        self._grid = QGridLayout()
        self._grid.setSpacing(4)
        column = vbox(self, spacing=6)
        column.addLayout(head)
        column.addLayout(self._grid)
        self._rows: list[tuple[QLabel, QPushButton, QPushButton, QLabel, QComboBox]] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._later = single_shot(self, lambda: self.set_widths(self.widths), 0)
        self.set_widths(())

    def set_widths(self, widths: Sequence[int]) -> None:
        """Show these layers; emits nothing. Of many new rows some are built in later turns."""
        self.widths = [int(width) for width in widths]
        for _ in range(min(AT_ONCE, len(self.widths) - len(self._rows))):
            self._add_row()
        if len(self._rows) < len(self.widths):
            self._later.start()
        for index, (name, minus, plus, number, choice) in enumerate(self._rows):
            used = index < len(self.widths)
            for part in (name, minus, plus, number):
                part.setVisible(used)
            choice.setVisible(used and bool(self._offered))
            if used:
                width = self.widths[index]
                words = ngettext("{count} unit", "{count} units", width)
                number.setText(str(width))
                number.setToolTip(words)
                number.setAccessibleName(
                    tr("{words} in layer {value}", words=words, value=index + 1)
                )
                minus.setEnabled(width > self._low)
                plus.setEnabled(width < self._high)
        count = len(self.widths)
        words = ngettext("{count} hidden layer", "{count} hidden layers", count)
        self._count.setText(words if count else tr("no hidden layer"))
        self.more.setEnabled(count < MOST_LAYERS)
        self.fewer.setEnabled(count > 0)
        self._show_names()
        if self.isVisible():
            self._say_layers()

    def showEvent(self, happened: QShowEvent) -> None:
        """Label the layers for the current width."""
        super().showEvent(happened)
        self._say_layers()

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Write "Layer 2", or "2" if that does not fit."""
        super().resizeEvent(happened)
        self._say_layers()

    def _say_layers(self) -> None:
        """Leave out the word "Layer" if it would cut off a choice."""
        for index, (name, minus, plus, number, choice) in enumerate(self._rows):
            words = tr("Layer {value}", value=index + 1)
            fixed = sum(part.sizeHint().width() for part in (minus, plus, number))
            room = self.width() - fixed - 4 * self._grid.spacing()
            wide = name.fontMetrics().horizontalAdvance(words)
            fits = not self._offered or wide + choice.sizeHint().width() <= room
            name.setText(words if fits else str(index + 1))
            name.setToolTip("" if fits else words)

    def offer(self, title: str, choices: Sequence[str]) -> None:
        """Offer ``choices`` for each layer; ``title``: what they are, such as "Activation"."""
        self._title, self._offered = title, tuple(choices)
        for index, row in enumerate(self._rows):
            self._fill(index, row[-1])
        self.set_widths(self.widths)

    def set_names(self, names: str | Sequence[str]) -> None:
        """Show a name for all layers, or a list with one for each; emits nothing."""
        self._names = [names] if isinstance(names, str) else list(names)
        self._show_names()

    def names(self) -> list[str]:
        """Return the name of each layer: the last name also applies to further layers."""
        count = len(self.widths)
        return (self._names + self._names[-1:] * count)[:count]

    def choice(self, index: int) -> QComboBox:
        """Return the combo box of a layer."""
        return self._rows[index][-1]

    def _show_names(self) -> None:
        for (*_, choice), name in zip(self._rows, self.names(), strict=False):
            choice.setCurrentIndex(choice.findData(name))

    def _fill(self, index: int, choice: QComboBox) -> None:
        choice.clear()
        for name in self._offered:
            choice.addItem(name, name)
        words = tr("{title} of layer {value}", title=self._title, value=index + 1)
        choice.setAccessibleName(words)
        choice.setToolTip(words)

    def _pick(self, index: int) -> None:
        names = self.names()
        name = str(self.choice(index).currentData())
        if names[index] != name:
            names[index] = name
            self.set_names(names)
            self.named.emit(names)

    def button(self, index: int, sign: int) -> QPushButton:
        """Return the button that widens (+1) or narrows (-1) a layer."""
        _name, minus, plus, _number, _choice = self._rows[index]
        return plus if sign > 0 else minus

    def _add_row(self) -> None:
        index = len(self._rows)
        name, number = QLabel(tr("Layer {value}", value=index + 1)), QLabel()
        name.setProperty("role", "caption")
        number.setAlignment(Qt.AlignmentFlag.AlignCenter)
        number.setMinimumWidth(number.fontMetrics().horizontalAdvance("888"))
        minus = small_button(MINUS, tr("One unit fewer in layer {value}", value=index + 1))
        plus = small_button("+", tr("One unit more in layer {value}", value=index + 1))
        for button, sign in ((minus, -1), (plus, 1)):
            button.setAutoRepeat(True)
            button.clicked.connect(lambda _=False, by=sign: self._widen(index, by))
        choice = Choice()
        choice.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        choice.setMinimumWidth(60)
        ignore_wheel(choice)
        choice.activated.connect(lambda _=0: self._pick(index))
        self._fill(index, choice)
        parts = (name, minus, plus, number, choice)
        for place, part in enumerate((name, minus, number, plus, choice)):
            self._grid.addWidget(part, index, place)
        self._grid.setColumnStretch(4, 1)
        self._rows.append(parts)

    def _widen(self, index: int, by: int) -> None:
        width = self.widths[index]
        wide = max(self._low, min(self._high, width + by))
        self._emit_widths([*self.widths[:index], wide, *self.widths[index + 1 :]])

    def _add(self) -> None:
        self._emit_widths([*self.widths, self.widths[-1] if self.widths else USUAL_WIDTH])

    def _remove(self) -> None:
        self._emit_widths(self.widths[:-1])

    def _emit_widths(self, widths: list[int]) -> None:
        self.set_widths(widths)
        self.edited.emit(widths)
