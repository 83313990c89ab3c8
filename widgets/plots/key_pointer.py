"""A pointer on a picture that the arrow keys move: it does there what the mouse does."""

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QWidget

STEP, FINE_STEP = 12, 1
"""Pixels that an arrow key moves the pointer; with Shift the fine step."""
SIDE = 25
"""Pixels of the cross."""
ON_KEY = Qt.Key.Key_C
_CLICK = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_WAYS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
KEYS = frozenset({*_WAYS, *_CLICK, Qt.Key.Key_Space, Qt.Key.Key_Escape})
"""The keys that it takes while it is shown."""


class KeyPointer(QWidget):
    """A cross over ``target``, which gets the mouse's events from the keyboard.

    C shows and hides it, arrows move it, Return clicks, Space presses and lets go, so that arrows
    drag meanwhile; Shift+Space drags as with Shift. ``watching`` is the widget that notices when
    the mouse leaves, by default the target.
    """

    def __init__(self, target: QWidget, watching: QWidget | None = None) -> None:
        super().__init__(target)
        self._target, self._watching = target, watching or target
        self._drag_modifiers: Qt.KeyboardModifier | None = None
        """The modifiers of the drag; None while nothing is dragged."""
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.resize(SIDE, SIDE)
        self.hide()

    @property
    def at(self) -> QPointF:
        """The place in pixels of the target."""
        return QPointF(self.pos()) + QPointF(SIDE // 2, SIDE // 2)

    @property
    def is_on(self) -> bool:
        """True while it is shown."""
        return not self.isHidden()

    def takes(self, key: int) -> bool:
        """Return whether `press` would use a key."""
        return key == ON_KEY or (self.is_on and key in KEYS)

    def press(self, happened: QKeyEvent) -> bool:
        """Do what a key says; return whether it was used."""
        key = happened.key()
        if not self.takes(key):
            return False
        shift = happened.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if key == ON_KEY:
            self.leave() if self.is_on else self._enter()
        elif key in _WAYS:
            right, down = _WAYS[Qt.Key(key)]
            step = FINE_STEP if shift else STEP
            self._move(self.at + QPointF(right * step, down * step))
        elif key in _CLICK:
            self._release_button()
            self._send(QEvent.Type.MouseButtonPress, Qt.KeyboardModifier.NoModifier)
            self._send(QEvent.Type.MouseButtonRelease, Qt.KeyboardModifier.NoModifier)
        elif key == Qt.Key.Key_Space and self._drag_modifiers is None:
            self._drag_modifiers = shift
            self._send(QEvent.Type.MouseButtonPress, shift)
        elif key == Qt.Key.Key_Space:
            self._release_button()
        else:
            self.leave()
        self.update()
        return True

    def leave(self) -> None:
        """Hide it; what it drags is let go."""
        if self.is_on:
            self._release_button()
            self.hide()
            QApplication.sendEvent(self._watching, QEvent(QEvent.Type.Leave))

    def _enter(self) -> None:
        area = self._target.rect()
        if self.pos().isNull() or not area.contains(self.at.toPoint()):
            self._place(QPointF(area.center()))
        self.show()
        self.raise_()
        self._move(self.at)

    def _place(self, at: QPointF) -> None:
        self.move(round(at.x()) - SIDE // 2, round(at.y()) - SIDE // 2)

    def _move(self, at: QPointF) -> None:
        area = self._target.rect()
        x, y = min(max(at.x(), 0.0), area.width() - 1.0), min(max(at.y(), 0.0), area.height() - 1.0)
        self._place(QPointF(x, y))
        self._send(QEvent.Type.MouseMove, self._drag_modifiers or Qt.KeyboardModifier.NoModifier)

    def _release_button(self) -> None:
        if self._drag_modifiers is not None:
            self._send(QEvent.Type.MouseButtonRelease, self._drag_modifiers)
            self._drag_modifiers = None

    def _send(self, kind: QEvent.Type, keys: Qt.KeyboardModifier) -> None:
        none, left = Qt.MouseButton.NoButton, Qt.MouseButton.LeftButton
        is_move = kind == QEvent.Type.MouseMove
        is_down = (
            self._drag_modifiers is not None if is_move else kind == QEvent.Type.MouseButtonPress
        )
        # The windows of programs on the screen have other places than their parts.
        there = QPointF(self._target.mapToGlobal(self.at.toPoint()))
        button = none if is_move else left
        event = QMouseEvent(kind, self.at, there, button, left if is_down else none, keys)
        QApplication.sendEvent(self._target, event)

    def paintEvent(self, _happened: QPaintEvent) -> None:
        """Draw a cross in ink on a pale rim, with a ring while it drags; called by Qt."""
        palette, middle = self.palette(), SIDE / 2
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for color, width in ((palette.base().color(), 5.0), (palette.text().color(), 2.0)):
            painter.setPen(QPen(color, width))
            painter.drawLine(QPointF(middle, 2), QPointF(middle, SIDE - 2))
            painter.drawLine(QPointF(2, middle), QPointF(SIDE - 2, middle))
            if self._drag_modifiers is not None:
                painter.drawEllipse(QPointF(middle, middle), 7, 7)
        painter.end()
