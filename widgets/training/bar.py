"""The bar of the training room: what is trained, its transport, and what one can take away."""

import math

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QPushButton, QSlider, QVBoxLayout, QWidget

from widgets.labels import Label, sheet, tip
from widgets.theme import Theme
from widgets.training.until import UntilMenu
from widgets.transport_buttons import ICON, ROOM, icon
from widgets.workspaces import WorkspaceSwitch

SLOW, FAST = 1.0, 3000.0
"""Steps per second at the ends of the slider; its last place is as fast as it goes."""
PLACES = 60
BETWEEN = 54
"""Pixels that margins and gaps of one row take, besides a gap after each button."""
MARGINS = 36
"""What they take where there are two."""
LETTERS = 30
"""There is a second row where the first would not hold words of so many digits' width."""
STRETCH = -1
"""Among the parts of a row: what takes the room that is left."""


class TrainingBar(QFrame):
    """Switch, title, buttons and speed; every press is told, nothing is done here."""

    pressed = Signal(str)
    """The command's name: ``play``, ``step``, ``line``, ``reset``..."""
    rate_changed = Signal(float)
    until_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("bar", True)
        self._theme = Theme.load("light")
        self._playing = False
        self._words = ("", "")
        self.switch = WorkspaceSwitch()
        self.title = Label("heading").tight()
        self.where = Label("caption").tight()
        self.examples = self._button("Examples", "Set-ups to start from", "examples")
        self.reset = self._button("Reset", "Back to step 0; same weights, same data", "")
        self.reset.setMenu(
            self._menu(
                ("Same weights and data", "reset"),
                ("New weights", "new_weights"),
                ("New data", "new_data"),
            )
        )
        self.line = self._button("Line", "One line inside the step (N)", "line")
        self.step = self._button("Step", "One step (Right)", "step")
        self.play = self._button("Train", "Train (Space)", "play")
        self.play.setProperty("primary", True)
        self.until = self._button("Until", "Train until a step or a loss is reached", "")
        self.until_menu = UntilMenu(self)
        self.until_menu.chosen.connect(self.until_chosen)
        self.until.setMenu(self.until_menu)
        self.fork = self._button("Fork", "Branch off here and compare (Ctrl+Shift+K)", "fork")
        self.export = self._button("Export", "Script, curves, weights or picture", "")
        self.export.setMenu(
            self._menu(
                ("Python script…", "export_script"),
                ("Set-up as JSON…", "export_setup"),
                ("Curves as CSV…", "export_csv"),
                ("Weights as safetensors…", "export_weights"),
                ("Picture of this window…", "export_picture"),
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
        self.speed_label = Label("caption", "Speed").tight()
        self.speed = QSlider(Qt.Orientation.Horizontal)
        self.speed.setRange(0, PLACES)
        self.speed.setValue(PLACES)
        self.speed.setFixedWidth(104)
        self.speed.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.speed.setAccessibleName("Steps per second")
        self.speed.setToolTip("Steps per second at most; at the right end as fast as it goes")
        self.speed_value = Label("caption", "max").tight()
        self.speed.valueChanged.connect(self._speed_moved)

    def _lay_out(self) -> None:
        rows = QVBoxLayout(self)
        rows.setContentsMargins(14, 10, 14, 10)
        rows.setSpacing(8)
        self._rows = (QHBoxLayout(), QHBoxLayout())
        for row in self._rows:
            row.setSpacing(8)
            rows.addLayout(row)
        self._in_two: bool | None = None
        self._arrange(in_two=False)

    def _arrange(self, in_two: bool) -> None:
        """Put all in one row, or what is trained, the speed and what branches off in a second."""
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
            # Behind the buttons: words that grow must not push what one is about to press.
            _add(first, 6, *speed, 10, *words, STRETCH, self.fork, self.export)

    def minimumSizeHint(self) -> QSize:
        """Return how small it can be made: what there is no room for is left out."""
        least = super().minimumSizeHint()
        return QSize(min(least.width(), MARGINS + _wide(*self._before())), least.height())

    def _before(self) -> tuple[QWidget, ...]:
        """Return what always stands at the beginning."""
        return self.switch, self.reset, self.line, self.step, self.play, self.until

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        self._theme = theme
        self.setStyleSheet(sheet(theme))
        metrics = QFontMetrics(theme.font(13))
        self.speed_value.setMinimumWidth(metrics.horizontalAdvance("3,000/s"))
        self.step.setIcon(icon("step", theme.ink2, self.devicePixelRatioF(), trailing=True))
        self.step.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self.set_playing(self._playing)
        self._fit()

    def set_playing(self, playing: bool) -> None:
        """Show Pause while it trains, else Train; the button keeps its width."""
        self._playing = playing
        text = "Pause" if playing else "Train"
        self.play.setText(text)
        self.play.setAccessibleName(text)
        self.play.setToolTip(f"{text} (Space)")
        shape = "pause" if playing else "play"
        color = self._theme.on_selection
        self.play.setIcon(icon(shape, color, self.devicePixelRatioF()))
        metrics = QFontMetrics(self._theme.font(13, 600))
        self.play.setMinimumWidth(metrics.horizontalAdvance("Pause") + ICON + 36)

    def set_words(self, title: str, where: str) -> None:
        """Show what is trained and where it stands."""
        if (title, where) != self._words:
            self._words = (title, where)
            self._fit()

    def set_rate(self, rate: float) -> None:
        """Show a speed; emits nothing."""
        self.speed.blockSignals(True)
        share = math.log(rate / SLOW) / math.log(FAST / SLOW) if rate > 0 else 1.0
        self.speed.setValue(round(share * PLACES))
        self.speed.blockSignals(False)
        self.speed_value.say(self._rate_words())

    def rate(self) -> float:
        """Return the steps per second that the slider stands at; 0 is as fast as it goes."""
        place = self.speed.value()
        if place == PLACES:
            return 0.0
        rate = SLOW * (FAST / SLOW) ** (place / PLACES)
        return float(f"{rate:.2g}")

    def _rate_words(self) -> str:
        rate = self.rate()
        return f"{rate:,.0f}/s" if rate else "max"

    def _speed_moved(self) -> None:
        self.speed_value.say(self._rate_words())
        self.rate_changed.emit(self.rate())

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Leave out what there is no room for."""
        super().resizeEvent(happened)
        self._fit()

    def _fit(self) -> None:
        """Words go first, then the speed, for which there is a command too.

        In a row of their own the words stay whole: there the speed goes first.
        """
        title, where = self._words
        metrics, small = self.title.fontMetrics(), self.where.fontMetrics()
        always, after = _wide(self.examples, *self._before()), _wide(self.fork, self.export)
        room = self.width() - BETWEEN - always - after
        in_two = room < metrics.horizontalAdvance("0") * LETTERS
        self._arrange(in_two)
        # The set-ups to start from are in the menu too.
        spare = self.width() - MARGINS - always if in_two else room
        self.examples.setVisible(spare >= 0)
        room = self.width() - MARGINS - after if in_two else room
        wide = 128 + sum(one.sizeHint().width() for one in (self.speed_label, self.speed_value))
        least = small.horizontalAdvance(where.partition(" · ")[0]) + 16
        told = metrics.horizontalAdvance(title) + 8 + least if in_two else 0
        has_speed = room >= wide + told
        for part in (self.speed_label, self.speed, self.speed_value):
            part.setVisible(has_speed)
        room -= wide if has_speed else 0
        # What is trained is cut for the step, but not for the speed.
        most = max(0, min(room, max(240, room - least)))
        heading = fitting(title, metrics, most)
        fits = room > 60
        self.title.setVisible(fits)
        self.title.setText(heading)
        self.title.setToolTip(tip(title))
        room -= metrics.horizontalAdvance(heading) + 8
        # The speed goes before the step.
        short = next((w for w in (where, where.partition(" · ")[0])
                      if small.horizontalAdvance(w) <= room), "")  # fmt: skip
        self.where.setVisible(fits and bool(short))
        self.where.setText(short)
        self.setAccessibleDescription(f"{title}, {where}")


def _add(row: QHBoxLayout, *parts: QWidget | int) -> None:
    """Append widgets, and between them spaces of so many pixels."""
    for part in parts:
        if isinstance(part, QWidget):
            row.addWidget(part)
        elif part == STRETCH:
            row.addStretch(1)
        else:
            row.addSpacing(part)


def _wide(*parts: QWidget) -> int:
    """Return the pixels that widgets take, with a gap after each."""
    return sum(max(one.sizeHint().width(), one.minimumWidth()) + 8 for one in parts)


def fitting(title: str, metrics: QFontMetrics, width: int) -> str:
    """Return as much of a title as ``width`` pixels hold: what tells runs apart stands at its end.

    The parts between its dots are left out from the front; one alone is cut in its middle.
    """
    parts = title.split(" · ")
    for first in range(len(parts)):
        text = " · ".join(parts[first:] if first == 0 else ["…", *parts[first:]])
        if metrics.horizontalAdvance(text) <= width:
            return text
    return metrics.elidedText(title, Qt.TextElideMode.ElideMiddle, width)
