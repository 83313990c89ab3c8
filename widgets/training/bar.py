"""The bar of the training page: current run, transport, speed and export."""

import math

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QPushButton, QSlider, QWidget

from gradscribe.playback.translation import pgettext, tr
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.labels import Label, sheet, tip
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.base.workspace_switch import WorkspaceSwitch
from gradscribe.widgets.training.stop_menu import StopMenu
from gradscribe.widgets.transport.buttons import ICON, ROOM, icon

SLOWEST, FASTEST = 1.0, 3000.0
"""Steps per second at the ends of the slider; its last position is unlimited."""
SPEED_POSITIONS = 60
ROW_SPACING = 54
"""Pixels of margins and gaps in a single row, besides a gap after each button."""
MARGINS = 36
"""The same if there are two rows."""
LEAST_PART_DIGITS = 6
"""Least width of a part of a title that is shortened, in digits."""
LEAST_TITLE_DIGITS = 30
"""A second row is used if the first has less space for the text than this many digits."""
STRETCH = -1
"""Marks a stretch among the parts of a row."""


class TrainingBar(QFrame):
    """Switch, title, buttons and speed; presses are only signalled, not handled here."""

    pressed = Signal(str)
    """Name of the command: ``play``, ``step``, ``line``, ``reset``..."""
    rate_changed = Signal(float)
    until_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("bar", True)
        self._theme = Theme.load("light")
        self._playing = False
        self._words = ("", "")
        self.switch = WorkspaceSwitch()
        self.title = Label("heading").fit_text()
        self.where = Label("caption").fit_text()
        self.examples = self._button(
            pgettext("programs", "Examples"), tr("Set-ups to start from (Ctrl+E)"), "examples"
        )
        self.reset = self._button(tr("Reset"), tr("Back to step 0; same weights, same data"), "")
        self.reset.setMenu(
            self._menu(
                (tr("Same weights and data"), "reset"),
                (tr("New weights"), "new_weights"),
                (tr("New data"), "new_data"),
            )
        )
        self.line = self._button(tr("Next line"), tr("One line inside the step (N)"), "line")
        self.step = self._button(tr("Step"), tr("One step (Right)"), "step")
        self.play = self._button(tr("Train"), tr("Train (Space)"), "play")
        self.play.setProperty("primary", True)
        self.until = self._button(tr("Until"), tr("Train until a step or a loss is reached"), "")
        self.until_menu = StopMenu(self)
        self.until_menu.chosen.connect(self.until_chosen)
        self.until.setMenu(self.until_menu)
        self.fork = self._button(
            tr("Fork"), tr("Branch off here and compare (Ctrl+Shift+K)"), "fork"
        )
        self.export = self._button(tr("Export"), tr("Script, curves, weights or picture"), "")
        self.export.setMenu(
            self._menu(
                (tr("Python script…"), "export_script"),
                (tr("Script for torchrun…"), "export_ddp"),
                (tr("Set-up as JSON…"), "export_setup"),
                (tr("Curves as CSV…"), "export_csv"),
                (tr("Weights as safetensors…"), "export_weights"),
                (tr("Picture of this window…"), "export_picture"),
            )
        )
        self._make_speed()
        self._lay_out()
        self.set_theme(self._theme)

    def _button(self, text: str, tip: str, name: str) -> QPushButton:
        button = QPushButton(text)
        button.setToolTip(tip)
        button.setAccessibleName(text)
        button.setAccessibleDescription(tip)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setIconSize(QSize(ICON + ROOM, ICON))
        if name:
            button.clicked.connect(lambda: self.pressed.emit(name))
        return button

    def _menu(self, *entries: tuple[str, str]) -> QMenu:
        menu = QMenu(self)
        for title, name in entries:
            menu.addAction(title).triggered.connect(
                lambda _=False, name=name: self.pressed.emit(name)
            )
        return menu

    def _make_speed(self) -> None:
        self.speed_label = Label("caption", tr("Speed")).fit_text()
        self.speed = QSlider(Qt.Orientation.Horizontal)
        self.speed.setRange(0, SPEED_POSITIONS)
        self.speed.setValue(SPEED_POSITIONS)
        self.speed.setFixedWidth(104)
        self.speed.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.speed.setAccessibleName(tr("Steps per second"))
        self.speed_label.setBuddy(self.speed)
        self.speed.setToolTip(tr("Steps per second at most; at the right end as fast as it goes"))
        self.speed_value = Label("caption", tr("max")).fit_text()
        self.speed.valueChanged.connect(self._speed_moved)

    def _lay_out(self) -> None:
        rows = vbox(self, margins=(14, 10, 14, 10), spacing=8)
        self._rows = (QHBoxLayout(), QHBoxLayout())
        for row in self._rows:
            row.setSpacing(8)
            rows.addLayout(row)
        self._in_two: bool | None = None
        self._arrange(in_two=False)

    def _arrange(self, in_two: bool) -> None:
        """Use a single row, or a second one for title, speed, Fork and Export."""
        if in_two == self._in_two:
            return
        self._in_two = in_two
        first, second = self._rows
        for row in self._rows:
            while row.takeAt(0) is not None:
                pass
        first.addWidget(self.switch)
        first.addSpacing(8)
        for button in (self.examples, self.reset, self.line, self.step, self.play, self.until):
            first.addWidget(button)
        words, speed = (self.title, self.where), (self.speed_label, self.speed, self.speed_value)
        if in_two:
            first.addStretch(1)
            _add(second, *words, STRETCH, *speed, 6, self.fork, self.export)
        else:
            # Behind the buttons: growing text must not move a button that is about to be pressed.
            _add(first, 6, *speed, 10, *words, STRETCH, self.fork, self.export)

    def minimumSizeHint(self) -> QSize:
        """Return the size of the parts that are never left out."""
        least = super().minimumSizeHint()
        return QSize(min(least.width(), MARGINS + _width_of(*self._before())), least.height())

    def _before(self) -> tuple[QWidget, ...]:
        """Return the widgets at the beginning, which are never left out."""
        return self.switch, self.reset, self.step, self.play, self.until

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        self._theme = theme
        set_sheet(self, sheet(theme))
        metrics = QFontMetrics(theme.font(13))
        self.speed_value.setMinimumWidth(metrics.horizontalAdvance("3,000/s"))
        self.step.setIcon(icon("step", theme.ink2, self.devicePixelRatioF(), trailing=True))
        self.step.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self.set_playing(self._playing)
        self._fit()

    def set_playing(self, playing: bool) -> None:
        """Show Pause while training, else Train; the button keeps its width."""
        self._playing = playing
        text = tr("Pause") if playing else tr("Train")
        self.play.setText(text)
        self.play.setAccessibleName(text)
        self.play.setToolTip(tr("{command} (Space)", command=text))
        shape = "pause" if playing else "play"
        color = self._theme.on_selection
        self.play.setIcon(icon(shape, color, self.devicePixelRatioF(), off=self._theme.disabled))
        metrics = QFontMetrics(self._theme.font(13, 600))
        self.play.setMinimumWidth(metrics.horizontalAdvance(tr("Pause")) + ICON + 36)

    def set_words(self, title: str, where: str) -> None:
        """Show the name of the run and its progress."""
        if (title, where) != self._words:
            self._words = (title, where)
            self._fit()

    def rate(self) -> float:
        """Return the steps per second of the slider; 0 is unlimited."""
        place = self.speed.value()
        if place == SPEED_POSITIONS:
            return 0.0
        rate = SLOWEST * (FASTEST / SLOWEST) ** (place / SPEED_POSITIONS)
        return float(f"{rate:.2g}")

    def set_rate(self, rate: float) -> None:
        """Show a limit of the steps per second, at the nearest position; 0 is unlimited."""
        if rate != self.rate():
            share = math.log(max(rate, SLOWEST) / SLOWEST) / math.log(FASTEST / SLOWEST)
            most = SPEED_POSITIONS - 1
            with QSignalBlocker(self.speed):
                at = min(most, round(share * SPEED_POSITIONS)) if rate else SPEED_POSITIONS
                self.speed.setValue(at)
        self._show_rate(rate)

    def _speed_moved(self) -> None:
        rate = self.rate()
        self._show_rate(rate)
        self.rate_changed.emit(rate)

    def _show_rate(self, rate: float) -> None:
        self.speed_value.say(f"{rate:,.0f}/s" if rate else tr("max"))

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Leave out what does not fit."""
        super().resizeEvent(happened)
        self._fit()

    def _fit(self) -> None:
        """Leave out what does not fit: first the text, then the speed, which has a command too.

        In a second row the text stays whole and the speed is left out first.
        """
        title, where = self._words
        metrics, small = self.title.fontMetrics(), self.where.fontMetrics()
        always = _width_of(self.examples, self.line, *self._before())
        after = _width_of(self.fork, self.export)
        room = self.width() - ROW_SPACING - always - after
        in_two = room < metrics.horizontalAdvance("0") * LEAST_TITLE_DIGITS
        self._arrange(in_two)
        # The example set-ups are in the menu too, and a line inside of a step has its pane.
        spare = self.width() - MARGINS - always if in_two else room
        self.examples.setVisible(spare >= 0)
        self.line.setVisible(spare + _width_of(self.examples) >= 0)
        room = self.width() - MARGINS - after if in_two else room
        labels = (self.speed_label, self.speed_value)
        wide = 128 + sum(label.sizeHint().width() for label in labels)
        least = small.horizontalAdvance(where.partition(" · ")[0]) + 16
        text = metrics.horizontalAdvance(title) + 8 + least if in_two else 0
        has_speed = room >= wide + text
        for part in (self.speed_label, self.speed, self.speed_value):
            part.setVisible(has_speed)
        room -= wide if has_speed else 0
        # The name is shortened in favour of the step, but not of the speed.
        most = max(0, min(room, max(240, room - least)))
        heading = fit_title(title, metrics, most)
        fits = room > 60
        self.title.setVisible(fits)
        self.title.setText(heading)
        self.title.setToolTip(tip(title))
        room -= metrics.horizontalAdvance(heading) + 8
        # The measured speed is left out before the step.
        choices = (where, where.partition(" · ")[0])
        short = next((words for words in choices if small.horizontalAdvance(words) <= room), "")
        self.where.setVisible(fits and bool(short))
        self.where.setText(short)
        self.setAccessibleDescription(f"{title}, {where}")


def _add(row: QHBoxLayout, *parts: QWidget | int) -> None:
    """Append widgets, spaces in pixels, and stretches (`STRETCH`) to a row."""
    for part in parts:
        if isinstance(part, QWidget):
            row.addWidget(part)
        elif part == STRETCH:
            row.addStretch(1)
        else:
            row.addSpacing(part)


def _width_of(*parts: QWidget) -> int:
    """Return the width of widgets in pixels, with a gap after each."""
    return sum(max(part.sizeHint().width(), part.minimumWidth()) + 8 for part in parts)


def fit_title(title: str, metrics: QFontMetrics, width: int) -> str:
    """Return as much of a title as fits into ``width`` pixels; its end distinguishes runs best.

    The parts between its dots are shortened and left out from the front; a single part is elided in
    the middle.
    """
    if metrics.horizontalAdvance(title) <= width:
        return title
    parts = title.split(" · ")
    least = metrics.horizontalAdvance("0") * LEAST_PART_DIGITS
    for first in range(1, len(parts)):
        rest = " · " + " · ".join(parts[first:])
        room = width - metrics.horizontalAdvance(rest)
        if room >= least:
            return metrics.elidedText(parts[first - 1], Qt.TextElideMode.ElideMiddle, room) + rest
        if room >= metrics.horizontalAdvance("…"):
            return f"…{rest}"
    return metrics.elidedText(title, Qt.TextElideMode.ElideMiddle, width)
