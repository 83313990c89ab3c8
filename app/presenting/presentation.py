"""Presenting a program: the graph at a size that a lecture hall can read, and the lecturer's tools.

Mouse and remote are watched at the native window, before its widgets: what lies over these takes
nothing from them, and the keys of a remote work wherever the keyboard is.
"""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QCursor, QKeyEvent, QMouseEvent, QWheelEvent, QWindow
from PySide6.QtWidgets import QWidget

from gradscribe.app.files.settings import Settings
from gradscribe.app.presenting.black_screen import BlackScreen
from gradscribe.app.presenting.pointer_ring import PointerRing
from gradscribe.app.presenting.spotlight import Spotlight
from gradscribe.app.ui.popup import PopupCard
from gradscribe.widgets.base.painting.glass import set_covered
from gradscribe.widgets.graph.view import GraphView
from gradscribe.widgets.graph.viewport import zoom_for_text

TEXT_SHARE = 1 / 45
"""Least height of the text of cards, as a share of the window's height."""
FLATTEST = 0.75
"""Of a window that is higher than this share of its width, only so much height counts."""
WHEEL_STEP = 120
"""Eighths of a degree of the wheel for a step of the spotlight's size."""
_SIZES = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


@dataclass(frozen=True)
class Remote:
    """Actions of the keys of a presenter remote."""

    turn: Callable[[int], None]
    """Goes on (1) or back (-1): Page Down and Page Up."""
    to_start: Callable[[], None]
    """Goes to the start: F5."""
    play: Callable[[], None]
    """Plays from here or pauses: Shift+F5."""


class Presentation(QObject):
    """State and tools of presenting in one window."""

    changed = Signal()
    """Emitted when presenting, the spotlight, the black screen or full screen changed."""

    def __init__(
        self, window: QWidget, settings: Settings, graph: GraphView, remote: Remote
    ) -> None:
        super().__init__(window)
        self._window, self._settings, self._graph = window, settings, graph
        self._graphs = [graph]
        self._remote = remote
        self._handle: QWindow | None = None
        """The native window whose events are watched."""
        self._watches = False
        self._at: QPoint | None = None
        """Latest position of the mouse; None outside of the window, and before it moved."""
        self.ring = PointerRing(window)
        self.spotlight = Spotlight(window)
        self.black = BlackScreen(window)
        settings.changed.connect(self._follow)

    @property
    def is_on(self) -> bool:
        """True while the user presents."""
        return self._settings.flag("presenting")

    @property
    def is_full_screen(self) -> bool:
        """True while the window covers the screen."""
        return self._window.isFullScreen()

    @property
    def has_spotlight(self) -> bool:
        """True while the window is dimmed but for a circle."""
        return not self.spotlight.isHidden()

    @property
    def is_black(self) -> bool:
        """True while the window is black."""
        return not self.black.isHidden()

    def add_graph(self, graph: GraphView) -> None:
        """Let the text of another graph grow with the rest, too."""
        self._graphs.append(graph)
        self._settle()

    def toggle(self) -> None:
        """Begin or end presenting."""
        self._settings.put("presenting", not self.is_on)

    def toggle_full_screen(self) -> None:
        """Let the window cover the screen, or no longer."""
        full = Qt.WindowState.WindowFullScreen
        self._window.setWindowState(self._window.windowState() ^ full)
        self.changed.emit()

    def toggle_spotlight(self) -> None:
        """Dim everything but a circle at the mouse, or nothing."""
        if self.has_spotlight:
            self.spotlight.hide()
        else:
            self.spotlight.setGeometry(self._window.rect())
            self.spotlight.aim(self._mouse() or self._window.rect().center())
            self.spotlight.show()
            self.spotlight.raise_()
            self.ring.raise_()
        self._watch()
        self.changed.emit()

    def toggle_black(self) -> None:
        """Cover the window with black, or show it again."""
        if self.is_black:
            self.black.end()
        else:
            self.black.begin()
        self._watch()
        self.changed.emit()

    def escape(self) -> bool:
        """End the spotlight, else presenting and full screen; return False if none was on."""
        if self.has_spotlight:
            self.toggle_spotlight()
        elif self.is_on or self.is_full_screen:
            if self.is_full_screen:
                self.toggle_full_screen()
            self._settings.put("presenting", False)
        else:
            return False
        return True

    def _follow(self, key: str) -> None:
        if key not in ("presenting", "pointer_ring"):
            return
        if key == "presenting" and not self.is_on:
            self.spotlight.hide()
            self.black.end()
        self._watch()
        self._settle()
        if key == "presenting" and self.is_on:
            # Keys of a remote that are letters must not be typed into the program.
            self._graph.setFocus()
        self.changed.emit()

    # The window.

    @property
    def _has_ring(self) -> bool:
        return self.is_on and self._settings.flag("pointer_ring")

    def _watch(self) -> None:
        """Watch the window while there is anything to do, and only then."""
        set_covered(self._window, self._has_ring or self.has_spotlight)
        wanted = self.is_on or self.has_spotlight or self.is_black
        if wanted and not self._watches:
            self._window.installEventFilter(self)
        elif self._watches and not wanted:
            self._window.removeEventFilter(self)
        self._watches = wanted
        self._at = self._at if wanted else None
        self._attach(self._window.windowHandle() if wanted else None)
        mouse = self._mouse()
        if not self._has_ring:
            self.ring.hide()
            self.ring.ripple.end()
        elif mouse is not None:
            self.ring.show_at(mouse)

    def _attach(self, handle: QWindow | None) -> None:
        if handle is not self._handle:
            if self._handle is not None:
                self._handle.removeEventFilter(self)
            if handle is not None:
                handle.installEventFilter(self)
            self._handle = handle

    def _settle(self) -> None:
        """Fit everything to the size of the window."""
        window = self._window
        height = min(window.height(), FLATTEST * window.width())
        least = zoom_for_text(height * TEXT_SHARE) if self.is_on else 0.0
        for graph in self._graphs:
            graph.set_least_zoom(least)
        self.ring.set_window_height(window.height())
        self.spotlight.setGeometry(window.rect())
        self.black.setGeometry(window.rect())

    def _mouse(self) -> QPoint | None:
        """Return where the mouse is in the window; None outside of it."""
        if self._at is not None:
            return self._at
        at = self._window.mapFromGlobal(QCursor.pos())
        return at if self._window.isVisible() and self._window.rect().contains(at) else None

    # Events.

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Follow size, mouse, wheel and the keys of a remote; return whether it was used up."""
        kind = happened.type()
        if watched is self._window:
            if kind == QEvent.Type.Resize:
                self._settle()
            elif kind in (QEvent.Type.Show, QEvent.Type.WinIdChange):
                self._attach(self._window.windowHandle())
            elif kind == QEvent.Type.WindowStateChange:
                self.changed.emit()
            return False
        if isinstance(happened, QKeyEvent):
            return self._take_key(happened)
        if isinstance(happened, QWheelEvent):
            return self._take_wheel(happened)
        if isinstance(happened, QMouseEvent):
            self._see_mouse(kind, happened.position())
        elif kind == QEvent.Type.Leave:
            self._at = None
            self.ring.hide()
        return False

    def _see_mouse(self, kind: QEvent.Type, position: QPointF) -> None:
        at = self._at = position.toPoint()
        if self.has_spotlight:
            self.spotlight.aim(at)
        if self._has_ring:
            self.ring.show_at(at)
            if kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick):
                self.ring.click_at(at)

    def _take_wheel(self, turned: QWheelEvent) -> bool:
        if not self.has_spotlight or turned.modifiers() != _SIZES:
            return False
        # Some systems turn a wheel sideways while Shift is down.
        self.spotlight.grow((turned.angleDelta().y() or turned.angleDelta().x()) / WHEEL_STEP)
        turned.accept()
        return True

    def _take_key(self, key: QKeyEvent) -> bool:
        """Handle a key of a remote, before shortcuts and widgets get it."""
        act = self._action(key)
        if act is None or key.type() == QEvent.Type.KeyRelease:
            return False
        key.accept()
        if key.type() == QEvent.Type.KeyPress:
            act()
        return True

    def _action(self, key: QKeyEvent) -> Callable[[], object] | None:
        if self._has_popup():
            return None
        plain = key.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if key.key() == Qt.Key.Key_Escape and not plain and not self.is_black:
            # Elsewhere the keyboard may be in something that has to be left first.
            is_free = self._graph.hasFocus() and self._graph.focus() is None
            return self.escape if self.has_spotlight or (self.is_on and is_free) else None
        if not self.is_on:
            return None
        shifted = plain == Qt.KeyboardModifier.ShiftModifier
        if plain and not (shifted and key.key() == Qt.Key.Key_F5):
            return None
        remote = self._remote
        actions: dict[int, Callable[[], None]] = {
            Qt.Key.Key_PageDown: lambda: remote.turn(1),
            Qt.Key.Key_PageUp: lambda: remote.turn(-1),
            Qt.Key.Key_F5: remote.play if shifted else remote.to_start,
        }
        act = actions.get(key.key())
        return self.black.end if act is not None and self.is_black else act

    def _has_popup(self) -> bool:
        return any(card.isVisible() for card in self._window.findChildren(PopupCard))
