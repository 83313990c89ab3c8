"""Mouse, wheel, gesture and key input of the graph."""

from PySide6.QtCore import QEvent, QPointF, QSizeF, Qt, SignalInstance
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
from gradscribe.widgets.graph.camera import Camera
from gradscribe.widgets.graph.paint.minimap import Minimap
from gradscribe.widgets.graph.paint.stage import Stage

CLICK_TOLERANCE = 4.0
WIRE_TOLERANCE = 6.0
"""Pixels from a wire within which a click hits it."""
CLOSE_UP_ZOOM = 1.6
WHEEL_STEP = 1.0015
"""Zoom factor per eighth of a degree of the wheel."""

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


class GraphHand(QWidget):
    """The part of the graph view that handles input; the view implements the abstract methods."""

    picked: SignalInstance
    toggled: SignalInstance
    _hovered: str
    _selected: str

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pressed: QPointF | None = None
        self._dragged = False
        self._on_map = False
        self._chevroned = False
        self._cursor = QPointF()
        self._by_keys = False

    # Implemented by the view.

    def stage(self) -> Stage:
        """Return the placed picture that is shown."""
        raise NotImplementedError

    def camera(self) -> Camera:
        """Return the current view."""
        raise NotImplementedError

    def _has_map(self) -> bool:
        """Return whether the minimap is shown."""
        raise NotImplementedError

    def set_camera(self, camera: Camera) -> None:
        """Move the view to ``camera``."""
        raise NotImplementedError

    def select(self, key: str | None) -> None:
        """Select a card or wire."""
        raise NotImplementedError

    def center_on(self, key: str, zoom: float | None = None) -> None:
        """Center the view on a card."""
        raise NotImplementedError

    def reveal(self, key: str) -> None:
        """Scroll a card into view."""
        raise NotImplementedError

    def fit(self) -> None:
        """Show the whole graph."""
        raise NotImplementedError

    def zoom_by(self, factor: float, about: QPointF | None = None) -> None:
        """Zoom about a point of the widget."""
        raise NotImplementedError

    def tip_at(self, point: QPointF) -> str:
        """Return the tool tip for a point of the widget."""
        raise NotImplementedError

    # Hit tests.

    def key_at(self, point: QPointF) -> str:
        """Return the key of the card, else of the wire, at a widget point; empty for none."""
        at, stage = self.camera().to_scene(point), self.stage()
        return stage.card_at(at) or stage.wire_at(at, WIRE_TOLERANCE / self.camera().zoom)

    def toggle_at(self, point: QPointF, chevron_only: bool) -> str:
        """Return the key of the module card or name plate at a widget point; empty for none."""
        at, stage = self.camera().to_scene(point), self.stage()
        card = stage.card_at(at)
        if card:
            on_chevron = at.x() < stage.boxes[card].left() + 40
            folded = stage.cards[card].kind == "module"
            return card if folded and (on_chevron or not chevron_only) else ""
        head = stage.head_at(at)
        if head and chevron_only and at.x() < stage.frame_boxes[head].right() - 36:
            return ""
        return head

    def _map_point(self, point: QPointF) -> QPointF | None:
        """Return the scene point at a point of the minimap; None where the minimap is not."""
        bounds, view = self.stage().bounds, QSizeF(self.size())
        if not self._has_map():
            return None
        inside = Minimap.box(bounds, view).contains(point)
        return Minimap.to_scene(bounds, view, point) if inside or self._on_map else None

    def _center_at(self, point: QPointF) -> None:
        zoom = self.camera().zoom
        self.set_camera(
            Camera(zoom, self.width() / 2 - point.x() * zoom, self.height() / 2 - point.y() * zoom)
        )

    # Mouse.

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a click or a drag."""
        if event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            super().mousePressEvent(event)
            return
        self._pressed, self._dragged = event.position(), False
        self._cursor = event.position()
        target = self._map_point(event.position())
        self._on_map = target is not None
        if target is not None:
            self._center_at(target)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the view, or highlight what is under the cursor."""
        at = event.position()
        if self._pressed is None:
            self._hover(self.key_at(at))
            self._cursor = at
            return
        if self._on_map:
            target = self._map_point(at)
            if target is not None:
                self._center_at(target)
            return
        if not self._dragged and (at - self._pressed).manhattanLength() > CLICK_TOLERANCE:
            self._dragged = True
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
        if self._dragged:
            away = at - self._cursor
            self.set_camera(self.camera().moved(away.x(), away.y()))
        if self._dragged:
            self._cursor = at

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End a drag, or handle a click."""
        pressed, self._pressed = self._pressed, None
        was_map, self._on_map = self._on_map, False
        self.unsetCursor()
        if pressed is None or self._dragged or was_map:
            return
        if event.button() == Qt.MouseButton.LeftButton:
            self._click(event.position())

    def _click(self, at: QPointF) -> None:
        opener = self.toggle_at(at, chevron_only=True)
        self._chevroned = bool(opener)
        if opener:
            self.toggled.emit(opener)
            return
        key = self.key_at(at)
        self.select(key)
        self.picked.emit(key)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open or close a module, or zoom in on a card and back."""
        if event.button() != Qt.MouseButton.LeftButton or self._chevroned:
            return
        at = event.position()
        opener = self.toggle_at(at, chevron_only=False)
        if opener:
            self.toggled.emit(opener)
            return
        card = self.stage().card_at(self.camera().to_scene(at))
        if card:
            near = abs(self.camera().zoom - CLOSE_UP_ZOOM) < 0.01
            self.center_on(card, 1.0 if near else CLOSE_UP_ZOOM)

    def leaveEvent(self, event: QEvent) -> None:
        """Remove the hover highlight."""
        super().leaveEvent(event)
        self._hover("")

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Draw a strong focus ring if the focus came by the keyboard."""
        super().focusInEvent(event)
        self._by_keys = event.reason() in _BY_KEYS
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Remove the focus ring."""
        super().focusOutEvent(event)
        self._by_keys = False
        self.update()

    def _hover(self, key: str) -> None:
        if key != self._hovered:
            self._hovered = key
            self.setCursor(Qt.CursorShape.PointingHandCursor if key else Qt.CursorShape.ArrowCursor)
            self.update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom with Ctrl, else scroll; touchpads scroll in both directions."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            steps = event.angleDelta().y() or event.pixelDelta().y()
            self.zoom_by(WHEEL_STEP**steps, event.position())
        else:
            away = event.pixelDelta() if not event.pixelDelta().isNull() else event.angleDelta() / 2
            dx, dy = away.x(), away.y()
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and not dx:
                dx, dy = dy, 0
            self.set_camera(self.camera().moved(dx, dy))
        event.accept()

    # Keys and the rest.

    def event(self, event: QEvent) -> bool:
        """Handle pinches, keys that would be shortcuts elsewhere, and requests for a tool tip."""
        if isinstance(event, QNativeGestureEvent):
            if event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
                self.zoom_by(1.0 + event.value(), event.position())
                return True
        elif event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            # Arrow keys step through the tape elsewhere; here they navigate from a selected card.
            if self._selected and event.key() in _WAYS and not event.modifiers():
                event.accept()
                return True
        elif isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            self._show_tip(event)
            return True
        return super().event(event)

    def _show_tip(self, event: QHelpEvent) -> None:
        """Show the tool tip of what is under the cursor."""
        QToolTip.showText(event.globalPos(), tip(self.tip_at(QPointF(event.pos()))), self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Navigate with the arrows, zoom with + and -, fit with 0, open a module with Enter."""
        key = event.key()
        middle = self.rect().center()
        about = self._cursor if self.underMouse() else QPointF(middle)
        if key in _WAYS:
            self._walk(_WAYS[key])
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom_by(1.2, about)
        elif key in (Qt.Key.Key_Minus, Qt.Key.Key_Underscore):
            self.zoom_by(1 / 1.2, about)
        elif key == Qt.Key.Key_0:
            self.fit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._selected in self.stage().cards:
            self._enter(self._selected)
        elif key == Qt.Key.Key_Escape and self._selected:
            self.select(None)
            self.picked.emit("")
        else:
            super().keyPressEvent(event)

    def _walk(self, way: keyboard_navigation.Direction) -> None:
        key = keyboard_navigation.next_card(self.stage(), self._selected, way)
        if key and key != self._selected:
            self.select(key)
            self.reveal(key)
            self.picked.emit(key)

    def _enter(self, key: str) -> None:
        """Open a folded module, or close the module around any other card."""
        card = self.stage().cards[key]
        if card.kind == "module":
            self.toggled.emit(key)
        elif card.frame:
            self.toggled.emit(card.frame)
