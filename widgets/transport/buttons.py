"""Reset, back, step, play and speed, with icons painted from the theme."""

import math

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QIcon, QPainter, QPixmap, QPolygonF
from PySide6.QtWidgets import QPushButton, QSizePolicy, QSlider, QWidget

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import hbox
from gradscribe.widgets.base.labels import Label, sheet
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme

SLOWEST, FASTEST = 0.25, 8.0
ICON, ROOM = 12, 4


def icon(
    shape: str,
    color: QColor,
    ratio: float = 1.0,
    trailing: bool = False,
    off: QColor | None = None,
) -> QIcon:
    """Return a small icon: ``play``, ``pause``, ``back`` or ``step``.

    The gap between icon and text is part of it, on the left for a ``trailing`` icon. ``off`` is the
    colour on a button that is disabled; by default Qt pales ``color``.
    """
    made = QIcon(_drawn(shape, color, ratio, trailing))
    if off is not None:
        made.addPixmap(_drawn(shape, off, ratio, trailing), QIcon.Mode.Disabled)
    return made


def _drawn(shape: str, color: QColor, ratio: float, trailing: bool) -> QPixmap:
    pixmap = QPixmap(round((ICON + ROOM) * ratio), round(ICON * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        if trailing:
            painter.translate(ROOM, 0)
        if shape == "pause":
            painter.drawRoundedRect(QRectF(2, 1, 3, 10), 1, 1)
            painter.drawRoundedRect(QRectF(7, 1, 3, 10), 1, 1)
        else:
            painter.drawPolygon(QPolygonF([QPointF(x, y) for x, y in _SHAPES[shape]]))
    return pixmap


_SHAPES: dict[str, list[tuple[float, float]]] = {
    "play": [(1.5, 0.5), (11, 6), (1.5, 11.5)],
    "step": [(3.5, 2), (10, 6), (3.5, 10)],
    "back": [(8.5, 2), (2, 6), (8.5, 10)],
}


def speed_text(speed: float) -> str:
    """Return ``1×``, ``0.25×``, ``2.8×``."""
    return f"{speed:.2f}".rstrip("0").rstrip(".") + "×"


class TransportButtons(QWidget):
    """The transport's buttons and speed slider, for the top bar."""

    play_pressed = Signal()
    step_pressed = Signal()
    back_pressed = Signal()
    reset_pressed = Signal()
    speed_changed = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = Theme.load("light")
        self._playing = False
        self.reset_button = self._button(tr("Reset"), tr("Back to the start (Home)"))
        self.back_button = self._button(tr("Back"), tr("One event back (Left)"))
        self.step_button = self._button(tr("Step"), tr("One event forward (Right)"))
        self.play_button = self._button(tr("Play"), tr("Play the tape (Space)"))
        self.play_button.setProperty("primary", True)
        self.step_button.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self.reset_button.clicked.connect(lambda: self.reset_pressed.emit())
        self.back_button.clicked.connect(lambda: self.back_pressed.emit())
        self.step_button.clicked.connect(lambda: self.step_pressed.emit())
        self.play_button.clicked.connect(lambda: self.play_pressed.emit())
        for button in (self.back_button, self.step_button):
            button.setAutoRepeat(True)
        self._make_speed()
        hbox(
            self,
            self.reset_button,
            self.back_button,
            self.step_button,
            self.play_button,
            12,
            self.speed_label,
            self.speed_slider,
            self.speed_value,
            spacing=8,
        )
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.set_theme(self._theme)

    def _button(self, text: str, tip: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setToolTip(tip)
        button.setAccessibleName(text)
        button.setAccessibleDescription(tip)
        # A click must not take the focus away from the editor.
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setIconSize(QSize(ICON + ROOM, ICON))
        return button

    def _make_speed(self) -> None:
        self.speed_label = Label("caption", tr("Speed"), self).fit_text()
        self.speed_slider = QSlider(Qt.Orientation.Horizontal, self)
        self.speed_slider.setRange(-20, 30)
        self.speed_slider.setPageStep(10)
        self.speed_slider.setFixedWidth(100)
        self.speed_slider.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.speed_slider.setAccessibleName(tr("Speed"))
        self.speed_label.setBuddy(self.speed_slider)
        self.speed_slider.setToolTip(tr("Playback speed, 0.25× to 8×"))
        self.speed_value = Label("caption", "1×", self).fit_text()
        self.speed_slider.valueChanged.connect(self._speed_moved)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        self._theme = theme
        set_sheet(self, sheet(theme))
        self.speed_value.setMinimumWidth(_width(theme, "0.25×"))
        ratio = self.devicePixelRatioF()
        self.back_button.setIcon(icon("back", theme.ink2, ratio))
        self.step_button.setIcon(icon("step", theme.ink2, ratio, trailing=True))
        self.set_playing(self._playing)

    def set_playing(self, playing: bool) -> None:
        """Show Pause while the tape plays, else Play; the button keeps its width."""
        self._playing = playing
        text = tr("Pause") if playing else tr("Play")
        self.play_button.setText(text)
        self.play_button.setAccessibleName(text)
        self.play_button.setToolTip(tr("{text} the tape (Space)", text=text))
        shape = "pause" if playing else "play"
        theme, ratio = self._theme, self.devicePixelRatioF()
        # A colour for a bright button, paled, cannot be seen on a grey one.
        self.play_button.setIcon(icon(shape, theme.on_selection, ratio, off=theme.disabled))
        self.play_button.setMinimumWidth(_width(self._theme, tr("Pause")) + ICON + 36)

    def update_enabled(self, position: int, length: int) -> None:
        """Enable only the buttons that have an effect at ``position`` of ``length``."""
        self.reset_button.setEnabled(position > 0)
        self.back_button.setEnabled(position > 0)
        self.step_button.setEnabled(position < length)
        self.play_button.setEnabled(length > 0)

    def set_speed(self, speed: float) -> None:
        """Show ``speed``, clamped to 0.25 to 8; emits nothing."""
        speed = min(FASTEST, max(SLOWEST, speed))
        self.speed_slider.blockSignals(True)
        self.speed_slider.setValue(round(10 * math.log2(speed)))
        self.speed_slider.blockSignals(False)
        self.speed_value.say(speed_text(speed))

    def speed(self) -> float:
        """Return the speed of the slider."""
        return float(2 ** (self.speed_slider.value() / 10))

    def _speed_moved(self) -> None:
        # The slider snaps to powers of two, so that 1× is easy to find again.
        value = self.speed_slider.value()
        near = round(value / 10) * 10
        if self.speed_slider.isSliderDown() and abs(value - near) <= 1 and value != near:
            self.speed_slider.setValue(near)
            return
        self.speed_value.say(speed_text(self.speed()))
        self.speed_changed.emit(self.speed())


def _width(theme: Theme, text: str) -> int:
    return QFontMetrics(theme.font(13, 600)).horizontalAdvance(text)
