"""A small slider under a number, as an alternative to dragging it."""

from decimal import ROUND_FLOOR, Decimal

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QCursor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QLabel, QSlider, QStyle, QWidget
from shiboken6 import isValid

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import hbox
from gradscribe.widgets.base.theme import faded
from gradscribe.widgets.editor.numbers.number_drag import LiveLiteral
from gradscribe.widgets.editor.style import EditorStyle

MAX_TICKS = 1000
WIDTH = 216
HEIGHT = 34
LEAST_INT = 5
HANDLE = 14
"""Width of the handle with its border."""


def slider_range(live: LiveLiteral) -> tuple[Decimal, int]:
    """Return step and number of steps to either side: the range is the number's magnitude.

    Zero has the range -1 to 1, integers at least 5 to either side.
    """
    literal = live.literal
    step, half = literal.step, abs(literal.mantissa) or Decimal(1)
    if literal.is_int:
        half = max(half, Decimal(LEAST_INT))
    while half / step > MAX_TICKS:
        step *= 10
    return step, max(1, int((half / step).to_integral_value(ROUND_FLOOR)))


class JumpSlider(QSlider):
    """A slider whose handle jumps to a press anywhere in the widget."""

    def mousePressEvent(self, press: QMouseEvent) -> None:
        """Move the handle to the mouse; called by Qt."""
        if press.button() == Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self._move_handle(press)
        press.accept()

    def mouseMoveEvent(self, motion: QMouseEvent) -> None:
        """Move the handle with the mouse; called by Qt."""
        if self.isSliderDown():
            self._move_handle(motion)

    def mouseReleaseEvent(self, release: QMouseEvent) -> None:
        """Release the handle; called by Qt."""
        self.setSliderDown(False)
        release.accept()

    def _move_handle(self, mouse: QMouseEvent) -> None:
        low, high = self.minimum(), self.maximum()
        along = round(mouse.position().x()) - HANDLE // 2
        value = QStyle.sliderValueFromPosition(low, high, along, self.width() - HANDLE)
        self.setValue(value)


class NumberSlider(QFrame):
    """Slider for a `LiveLiteral`; hidden until `open_at` is called.

    `slid` carries the change relative to the number when the slider opened.
    """

    slid = Signal(object)
    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.live: LiveLiteral | None = None
        self._step = Decimal(1)
        self._style: EditorStyle | None = None
        self._low, self._high = QLabel(self), QLabel(self)
        self.slider = JumpSlider(Qt.Orientation.Horizontal, self)
        hbox(self, self._low, (self.slider, 1), self._high, margins=(10, 2, 10, 2), spacing=8)
        self.slider.valueChanged.connect(self._on_value_changed)
        self.slider.installEventFilter(self)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.hide()

    def set_style(self, style: EditorStyle) -> None:
        """Set the colours of the editor."""
        self._style = style
        theme = style.theme
        self.setStyleSheet(
            f"QLabel {{ color: {theme.ink3.name()}; background: transparent; }}"
            "QSlider { background: transparent; min-height: 20px; }"
            "QSlider::groove:horizontal { height: 4px; border-radius: 2px;"
            f" background: {theme.line.name()}; }}"
            "QSlider::handle:horizontal { width: 10px; height: 10px; margin: -5px 0px;"
            f" border-radius: 7px; background: {theme.surface.name()};"
            f" border: 2px solid {theme.selection.name()}; }}"
            "QSlider::handle:horizontal:hover, QSlider::handle:horizontal:focus {"
            f" background: {theme.selection.name()}; }}"
        )
        for label in (self._low, self._high):
            label.setFont(style.number_font)

    def open_at(self, live: LiveLiteral, below: QRectF, bounds: QRectF) -> None:
        """Show the slider of ``live`` below ``below``, or above it near the end of ``bounds``."""
        self.live = None
        self._step, ticks = slider_range(live)
        self.slider.setRange(-ticks, ticks)
        self.slider.setSingleStep(1)
        self.slider.setPageStep(max(1, ticks // 10))
        self.slider.setValue(0)
        self.live = live
        self._low.setText(_shown(live.literal.moved(-self._step * ticks)))
        self._high.setText(_shown(live.literal.moved(self._step * ticks)))
        name = tr(
            "Number {text} in line {value}", text=live.literal.text, value=live.block_number + 1
        )
        self.slider.setAccessibleName(name)
        self.slider.setAccessibleDescription(tr("Arrow keys change it, Escape undoes the changes"))
        width = min(max(WIDTH, self.sizeHint().width()), int(bounds.width()) - 4)
        left = min(max(bounds.left() + 2, below.center().x() - width / 2), bounds.right() - width)
        top = below.bottom() + 2
        if top + HEIGHT > bounds.bottom() and below.top() - HEIGHT - 2 >= bounds.top():
            top = below.top() - HEIGHT - 2
        self.setFixedSize(width, HEIGHT)
        self.move(QPoint(round(left), round(top)))
        self.show()
        self.raise_()

    def dismiss(self) -> None:
        """Hide the slider and return the focus to the editor; the number keeps its value."""
        if self.live is None:
            return
        self.live = None
        editor = self.parentWidget() if self.slider.hasFocus() else None
        self.hide()
        if editor is not None:
            editor.setFocus(Qt.FocusReason.OtherFocusReason)
        self.closed.emit()

    def is_under_mouse(self) -> bool:
        """Return whether the mouse is over the widget or close to its border."""
        return self.rect().adjusted(-4, -4, 4, 4).contains(self.mapFromGlobal(QCursor.pos()))

    def mousePressEvent(self, press: QMouseEvent) -> None:
        """Consume the press, so that the editor underneath does not get it; called by Qt."""
        press.accept()

    def _on_value_changed(self, ticks: int) -> None:
        if self.live is not None:
            self.slid.emit(self._step * ticks)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Undo on Escape, accept on Return, close on loss of focus; called by Qt."""
        # Focus is also lost while the window is destroyed, children last.
        if event.type() == QEvent.Type.FocusOut and isValid(self.parentWidget()):
            self.dismiss()
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape:
                self.slider.setValue(0)
            if event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.dismiss()
                return True
        return super().eventFilter(watched, event)

    def paintEvent(self, _: QPaintEvent) -> None:
        """Paint frame and origin mark; called by Qt."""
        if self._style is None:
            return
        theme = self._style.theme
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme.line_strong, 1))
            painter.setBrush(theme.panel)
            place = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
            painter.drawRoundedRect(place, 8, 8)
            # The original number.
            middle = QRectF(self.slider.geometry()).center()
            painter.setPen(QPen(faded(theme.ink3, 0.7), 1))
            for side in (-1, 1):
                painter.drawLine(
                    middle + QPoint(0, side * 9).toPointF(), middle + QPoint(0, side * 6).toPointF()
                )


def _shown(text: str) -> str:
    return text.strip("()").replace("-", "\N{MINUS SIGN}", 1) if "e" not in text.lower() else text
