"""The lines of a training step, highlighted as they are executed, with what each changed."""

import re
from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QSizePolicy, QWidget

from gradscribe.playback.translation import tr, translated
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.flow_layout import FlowLayout
from gradscribe.widgets.base.labels import Label, elided_label, sheet, tip
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme, mono_font

_COLORS = {
    "zero_grad": "constant",
    "forward": "forward",
    "loss": "forward",
    "backward": "backward",
    "step": "parameter",
}

LEAST_CODE = 60
"""Least width of the text of a line, in pixels; its tool tip has all of it."""
_MINUS = re.compile(r"(?<![\w.])-(?=\d)|(?<=\de)-(?=\d)")
"""A minus sign of a number, which Python writes as a hyphen."""


class StepLines(QWidget):
    """A row per line of the training step, and a button that executes the next line."""

    next_pressed = Signal()
    tape_pressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = Theme.load("light")
        self._lines: tuple[tuple[str, str], ...] = ()
        self._done = 0
        self._changed: dict[int, tuple[str, ...]] = {}
        self._led_to: int | None = None
        self._rows: list[tuple[QLabel, QLabel, _OneLine]] = []
        self.setAccessibleName(tr("Inside one step"))
        self.next = QPushButton(tr("Next line"))
        self.next.setToolTip(tr("Make the next line of the step happen (N)"))
        self.next.clicked.connect(self.next_pressed)
        self.tape = QPushButton(tr("Show on the tape"))
        self.tape.setToolTip(tr("Record this step and show it in the graph (Ctrl+Alt+T)"))
        self.tape.clicked.connect(self.tape_pressed)
        head = FlowLayout(self.next, self.tape)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(2, 1)
        column = vbox(self, margins=(16, 12, 12, 10), spacing=8)
        column.addLayout(head)
        column.addLayout(self._grid)
        column.addStretch(1)
        self.set_theme(self._theme)

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        self._theme = theme
        set_sheet(self, sheet(theme))
        for button in (self.next, self.tape):
            # The style sheet's least height is for text of the default size.
            button.setMinimumHeight(button.sizeHint().height())
        self._highlight()

    def set_lines(self, lines: Sequence[tuple[str, str]]) -> None:
        """Show these lines as (event, text), none of them executed. Existing rows are reused."""
        self._lines = tuple(lines)
        while len(self._rows) < len(self._lines):
            self._rows.append(self._row(len(self._rows)))
        while len(self._rows) > len(self._lines):
            for part in self._rows.pop():
                part.hide()
                part.deleteLater()
        for (_mark, code, _what), (_event, text) in zip(self._rows, self._lines, strict=True):
            if code.text() != text:
                code.setText(text)
                code.setToolTip(tip(text))
        self.clear()

    def _row(self, place: int) -> tuple[QLabel, QLabel, "_OneLine"]:
        mark, code = QLabel("○"), elided_label()
        # Else a long line makes the page wider than a narrow panel, which cuts the buttons off.
        code.setMinimumWidth(LEAST_CODE)
        what = _OneLine("caption")
        code.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        for at, part in enumerate((mark, code, what)):
            self._grid.addWidget(part, place, at)
        return mark, code, what

    def update_lines(self, lines: Sequence[tuple[str, str]]) -> None:
        """Show these lines if they differ from those shown."""
        if tuple(lines) != self._lines:
            self.set_lines(lines)

    def clear(self) -> None:
        """Show that no line of the step has been executed."""
        self._done, self._changed, self._led_to = 0, {}, None
        self._highlight()

    def leave(self, step: int) -> None:
        """Clear the highlights, unless the run is at the ``step`` that the last line led to."""
        if self._done and step != self._led_to:
            self.clear()

    def mark_executed(self, index: int, changed: Sequence[str], led_to: int | None = None) -> None:
        """Highlight line ``index`` with its changes; ``led_to``: the step after the last line."""
        if index == 0:
            self._changed = {}
        self._led_to = led_to
        self._done = index + 1
        self._changed[index] = tuple(map(translated, changed))
        self._highlight()

    def _highlight(self) -> None:
        for place, ((mark, code, what), (event, text)) in enumerate(
            zip(self._rows, self._lines, strict=True)
        ):
            token = _COLORS.get(event, "ink2")
            color = self._theme.color(token)
            soft = "module_soft" if token in ("ink2", "constant") else f"{token}_soft"
            lit, passed = place == self._done - 1, place < self._done
            ground = self._theme.color(soft).name() if lit else "transparent"
            ink = color if lit else self._theme.ink if passed else self._theme.ink3
            mark.setText("▶" if lit else "●" if passed else "○")
            _set_style(mark, f"color: {color.name() if passed else self._theme.ink3.name()};")
            # The label's own font would be the one that its style sheet set before.
            font = mono_font(12 * self._theme.scale, 600 if lit else 400)
            code.setFont(font)
            _set_style(
                code,
                f"background: {ground}; color: {ink.name()}; border-radius: 5px; padding: 2px 6px;"
                f" font-family: '{font.family()}'; font-size: {font.pixelSize()}px;",
            )
            changed = [_MINUS.sub("−", change) for change in self._changed.get(place, ())]
            summary = ", ".join(changed)
            what.say_all(changed)
            what.setToolTip("\n".join(changed))
            state = tr("happening now") if lit else "done" if passed else tr("not yet")
            code.setAccessibleName(f"{text}, {state}. {summary}")

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """Leave keys to the window."""
        happened.ignore()


def _set_style(widget: QWidget, style: str) -> None:
    """Set a widget's style sheet if it differs: setting the same again would restyle it."""
    if widget.styleSheet() != style:
        set_sheet(widget, style)


class _OneLine(Label):
    """Label of a single line: as many texts as fit, and the number of the others.

    Wrapping would push the lines of the step apart.
    """

    def __init__(self, role: str) -> None:
        super().__init__(role)
        self._all: tuple[str, ...] = ()

    def say_all(self, words: Sequence[str]) -> None:
        """Show these texts."""
        self._all = tuple(words)
        self.say(" · ".join(words))

    def paintEvent(self, _happened: QPaintEvent) -> None:
        """Draw as many texts as fit."""
        with QPainter(self) as painter:
            metrics = self.fontMetrics()
            text = shorten_changes(
                self._all, lambda text: metrics.horizontalAdvance(text) <= self.width()
            )
            text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, self.width())
            flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
            # Not with the style: Python may hold a deleted style that a style sheet replaced.
            painter.setPen(self.palette().color(self.foregroundRole()))
            painter.drawText(self.rect(), flags.value, text)

    def sizeHint(self) -> QSize:
        """Return the size of a line."""
        return QSize(self.fontMetrics().horizontalAdvance(self.said()), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Return no width: the texts yield to the lines of the step."""
        return QSize(0, super().minimumSizeHint().height())

    def heightForWidth(self, _width: int) -> int:
        """Return the height of a line."""
        return self.fontMetrics().height()


def shorten_changes(changed: Sequence[str], fits: Callable[[str], bool]) -> str:
    """Return the first changes, as many as fit, and the number of the others."""
    text = ""
    for shown in range(len(changed), 0, -1):
        more = len(changed) - shown
        text = " · ".join((*changed[:shown], *([tr("{more} more", more=more)] if more else ())))
        if fits(text):
            break
    return text
