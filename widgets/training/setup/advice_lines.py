"""Advice at its place in the set-up form: quiet lines, some with a button that makes a change."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from gradscribe.engine.protocol.training import Advice
from gradscribe.playback.translation import translated
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.labels import Label


class AdviceLines(QWidget):
    """A line for each piece of advice; hidden without any."""

    followed = Signal(object)
    """Carries the `Advice` whose button was pressed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.lines: list[Label] = []
        self.buttons: list[QPushButton] = []
        self._shown: tuple[Advice, ...] = ()
        self._rows = vbox(self, margins=(0, 0, 0, 6), spacing=4)
        self.hide()

    def show_advice(self, advice: Sequence[Advice]) -> None:
        """Show these pieces of advice instead of any before; the same ones stay as they are."""
        if tuple(advice) == self._shown:
            return
        has_focus = any(button.hasFocus() for button in self.buttons)
        for old in (*self.lines, *self.buttons):
            self._rows.removeWidget(old)
            old.hide()
            old.deleteLater()
        self._shown, self.lines, self.buttons = tuple(advice), [], []
        for one in advice:
            self._add(one)
        self.setVisible(bool(advice))
        if has_focus and self.buttons:
            self.buttons[0].setFocus(Qt.FocusReason.OtherFocusReason)

    def _add(self, advice: Advice) -> None:
        line = Label("caption", translated(advice.words), self)
        line.setAccessibleName(translated(advice.words))
        self._rows.addWidget(line)
        self.lines.append(line)
        if advice.button and advice.change:
            button = QPushButton(translated(advice.button), self)
            button.setProperty("crumb", True)
            button.setAccessibleDescription(translated(advice.words))
            button.clicked.connect(lambda: self.followed.emit(advice))
            self._rows.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
            self.buttons.append(button)
