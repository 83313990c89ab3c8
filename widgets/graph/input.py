"""Mouse, wheel, gesture and key input of the graph."""

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from gradscribe.widgets.base.labels import tip
from gradscribe.widgets.graph import keyboard_navigation
from gradscribe.widgets.graph.camera import Camera, centered
from gradscribe.widgets.graph.canvas import GraphCanvas

CLICK_TOLERANCE = 4.0
CLOSE_UP_ZOOM = 1.6
WHEEL_STEP = 1.0015
"""Zoom factor per eighth of a degree of the wheel."""

_NONE, _SHIFT = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
_CONTROL = Qt.KeyboardModifier.ControlModifier
PAN_PX = 60
"""Pixels by which Ctrl and an arrow key move the graph."""
_SIDES = {"up": (0, 1), "down": (0, -1), "left": (1, 0), "right": (-1, 0)}
_WAYS: dict[int, keyboard_navigation.Direction] = {
    Qt.Key.Key_Up: "up",
    Qt.Key.Key_Down: "down",
    Qt.Key.Key_Left: "left",
    Qt.Key.Key_Right: "right",
}

_BY_KEYS = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class GraphInput(QObject):
    """Translator of a widget's input into requests; it only marks what is under the cursor."""

    picked = Signal(str)
    """Select the card or wire with this key; empty for the ground."""
    reached = Signal(str)
    """Select the card with this key, and scroll it into view."""
    toggled = Signal(str)
    """Open or close the module with this key."""
    camera_requested = Signal(Camera)
    close_up_requested = Signal(str, float)
    """Center a card at a zoom."""
    fit_requested = Signal()

    def __init__(self, widget: QWidget, canvas: GraphCanvas) -> None:
        super().__init__(widget)
        self._widget, self._canvas = widget, canvas
        self._pressed: QPointF | None = None
        self._dragged = False
        self._chevroned = False
        self._cursor = QPointF()

    def handle(self, event: QEvent) -> bool:
        """Handle an event of the widget; return whether it was consumed."""
        kind = event.type()
        if isinstance(event, QMouseEvent):
            return self._widget.isEnabled() and self._handle_mouse(event)
        if isinstance(event, QWheelEvent):
            return self._widget.isEnabled() and self._scroll(event)
        if isinstance(event, QNativeGestureEvent):
            return self._pinch(event)
        if isinstance(event, QKeyEvent):
            if kind == QEvent.Type.ShortcutOverride:
                return self._override_shortcut(event)
            is_press = kind == QEvent.Type.KeyPress and self._widget.isEnabled()
            return is_press and self._press_key(event.key(), event.modifiers())
        if isinstance(event, QHelpEvent):
            return kind == QEvent.Type.ToolTip and self._show_tip(event)
        if isinstance(event, QFocusEvent) and kind != QEvent.Type.FocusAboutToChange:
            self._set_focus(event)
        elif kind == QEvent.Type.Leave:
            self._hover("")
        return False

    # Mouse.

    def _handle_mouse(self, event: QMouseEvent) -> bool:
        at = event.position()
        match event.type():
            case QEvent.Type.MouseButtonPress:
                return self._press(at, event.button())
            case QEvent.Type.MouseMove:
                self._move(at)
            case QEvent.Type.MouseButtonRelease:
                self._release(at, event.button())
            case QEvent.Type.MouseButtonDblClick:
                self._double_click(at, event.button())
        return True

    def _press(self, at: QPointF, button: Qt.MouseButton) -> bool:
        """Begin a click or a drag."""
        if button not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            return False
        self._pressed, self._dragged = at, False
        self._cursor = at
        target = self._canvas.map_point(at)
        self._canvas.map_dragged = target is not None
        if target is not None:
            self._center_at(target)
        return True

    def _move(self, at: QPointF) -> None:
        """Drag the view, or highlight what is under the cursor."""
        if self._pressed is None:
            self._hover(self._canvas.key_at(at))
            self._cursor = at
            return
        if self._canvas.map_dragged:
            target = self._canvas.map_point(at)
            if target is not None:
                self._center_at(target)
            return
        if not self._dragged and (at - self._pressed).manhattanLength() > CLICK_TOLERANCE:
            self._dragged = True
            self._widget.setCursor(Qt.CursorShape.ClosedHandCursor)
        if self._dragged:
            away = at - self._cursor
            self.camera_requested.emit(self._canvas.camera.moved(away.x(), away.y()))
            self._cursor = at

    def _release(self, at: QPointF, button: Qt.MouseButton) -> None:
        """End a drag, or handle a click."""
        pressed, self._pressed = self._pressed, None
        was_map, self._canvas.map_dragged = self._canvas.map_dragged, False
        self._widget.unsetCursor()
        if pressed is None or self._dragged or was_map:
            return
        if button == Qt.MouseButton.LeftButton:
            opener = self._canvas.toggle_at(at, chevron_only=True)
            self._chevroned = bool(opener)
            if opener:
                self.toggled.emit(opener)
            else:
                self.picked.emit(self._canvas.key_at(at))

    def _double_click(self, at: QPointF, button: Qt.MouseButton) -> None:
        """Open or close a module, or zoom in on a card and back."""
        if button != Qt.MouseButton.LeftButton or self._chevroned:
            return
        canvas = self._canvas
        opener = canvas.toggle_at(at, chevron_only=False)
        if opener:
            self.toggled.emit(opener)
            return
        card = canvas.stage.card_at(canvas.camera.to_scene(at))
        if card:
            near = abs(canvas.camera.zoom - CLOSE_UP_ZOOM) < 0.01
            self.close_up_requested.emit(card, 1.0 if near else CLOSE_UP_ZOOM)

    def _center_at(self, point: QPointF) -> None:
        box, canvas = QRectF(point, QSizeF()), self._canvas
        self.camera_requested.emit(centered(box, canvas.size, canvas.camera.zoom))

    def _hover(self, key: str) -> None:
        if key != self._canvas.hovered:
            self._canvas.hovered = key
            shape = Qt.CursorShape.PointingHandCursor if key else Qt.CursorShape.ArrowCursor
            self._widget.setCursor(shape)
            self._widget.update()

    def _scroll(self, event: QWheelEvent) -> bool:
        """Zoom with Ctrl, else scroll; touchpads scroll in both directions."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            steps = event.angleDelta().y() or event.pixelDelta().y()
            self._zoom(WHEEL_STEP**steps, event.position())
        else:
            away = event.pixelDelta() if not event.pixelDelta().isNull() else event.angleDelta() / 2
            dx, dy = away.x(), away.y()
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and not dx:
                dx, dy = dy, 0
            self.camera_requested.emit(self._canvas.camera.moved(dx, dy))
        event.accept()
        return True

    def _zoom(self, factor: float, about: QPointF) -> None:
        self.camera_requested.emit(self._canvas.camera.zoomed(factor, about))

    def _pinch(self, event: QNativeGestureEvent) -> bool:
        if event.gestureType() != Qt.NativeGestureType.ZoomNativeGesture:
            return False
        self._zoom(1.0 + event.value(), event.position())
        return True

    def _show_tip(self, event: QHelpEvent) -> bool:
        """Show the tool tip of what is under the cursor."""
        words = self._canvas.tip_at(QPointF(event.pos()))
        QToolTip.showText(event.globalPos(), tip(words), self._widget)
        return True

    # Keys.

    def _set_focus(self, event: QFocusEvent) -> None:
        """Draw a strong focus ring if the focus came by the keyboard, until it goes."""
        self._canvas.focused = event.gotFocus() and event.reason() in _BY_KEYS
        self._widget.update()

    def _override_shortcut(self, event: QKeyEvent) -> bool:
        """Navigate with arrow keys from a selected card; elsewhere they step through the tape."""
        is_bare = event.modifiers() in (_NONE, _SHIFT)
        if not self._canvas.selected or event.key() not in _WAYS or not is_bare:
            return False
        event.accept()
        return True

    def _press_key(self, key: int, modifiers: Qt.KeyboardModifier) -> bool:
        """Navigate with the arrows, zoom with + and -, fit with 0, open a module with Enter.

        With Shift the arrows lead onto a wire, and from one to the next; with Ctrl they move the
        graph.
        """
        canvas, middle = self._canvas, QPointF(self._widget.rect().center())
        about = self._cursor if self._widget.underMouse() else middle
        if key in _WAYS and modifiers & _CONTROL:
            right, down = _SIDES[_WAYS[key]]
            self.camera_requested.emit(canvas.camera.moved(right * PAN_PX, down * PAN_PX))
        elif key in _WAYS:
            self._walk(_WAYS[key], onto_wires=modifiers == _SHIFT)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self._zoom(1.2, about)
        elif key in (Qt.Key.Key_Minus, Qt.Key.Key_Underscore):
            self._zoom(1 / 1.2, about)
        elif key == Qt.Key.Key_0:
            self.fit_requested.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and canvas.selected in canvas.stage.cards:
            self._enter(canvas.selected)
        elif key == Qt.Key.Key_Escape and canvas.selected:
            self.picked.emit("")
        else:
            return False
        return True

    def _walk(self, way: keyboard_navigation.Direction, onto_wires: bool) -> None:
        selected = self._canvas.selected
        step = keyboard_navigation.next_wire if onto_wires else keyboard_navigation.next_card
        key = step(self._canvas.stage, selected, way)
        if key and key != selected:
            self.reached.emit(key)

    def _enter(self, key: str) -> None:
        """Open a folded module, or close the module around any other card."""
        card = self._canvas.stage.cards[key]
        if card.kind == "module":
            self.toggled.emit(key)
        elif card.frame:
            self.toggled.emit(card.frame)
