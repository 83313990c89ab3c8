"""A ring around the widget that has the keyboard, where the widget itself does not show it."""

import shiboken6
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent, QPalette, QPen, QRegion
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QMenu,
    QMenuBar,
    QPlainTextEdit,
    QScrollArea,
    QSplitterHandle,
    QTabBar,
    QTextEdit,
    QWidget,
)

WIDTH = 2
"""Width of the ring, in pixels."""
RADIUS = 6.0
OWN_FOCUS = "shows_focus"
"""Property of a widget that paints its focus itself."""
_STYLED = (
    QAbstractButton, QAbstractSpinBox, QComboBox, QLineEdit, QMenu, QMenuBar, QSplitterHandle,
)  # fmt: skip
_FOLLOWED = (
    QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide,
    QEvent.Type.ParentChange, QEvent.Type.LayoutRequest,
)  # fmt: skip


class FocusRing(QObject):
    """Ring of an application; it follows the focus through all of its windows.

    A click shows none: whoever clicks knows where.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._target: QWidget | None = None
        self._followed: list[QWidget] = []
        self._ring: _Ring | None = None
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._move)

    def _move(self, _: QWidget | None, now: QWidget | None) -> None:
        self._release()
        if now is None or QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:
            return
        _bring_into_view(now)
        if _shows_focus(now):
            return
        self._target = now
        at: QWidget | None = now
        while at is not None:
            at.installEventFilter(self)
            self._followed.append(at)
            at = None if at.isWindow() else at.parentWidget()
        if isinstance(now, QTabBar):
            now.currentChanged.connect(self._settle)
        self._ring = _Ring(now.window())
        self._settle()

    def _release(self) -> None:
        for widget in self._followed:
            if shiboken6.isValid(widget):
                widget.removeEventFilter(self)
        target, ring = self._target, self._ring
        self._followed, self._target, self._ring = [], None, None
        if isinstance(target, QTabBar) and shiboken6.isValid(target):
            target.currentChanged.disconnect(self._settle)
        if ring is not None and shiboken6.isValid(ring):
            ring.hide()
            ring.deleteLater()

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Follow the widget, and what it is in; called by Qt."""
        if happened.type() in _FOLLOWED:
            self._settle()
        return super().eventFilter(watched, happened)

    def _settle(self) -> None:
        target, ring = self._target, self._ring
        if target is None or ring is None:
            return
        if not (shiboken6.isValid(target) and shiboken6.isValid(ring)):
            return
        place = _seen_part(target)
        ring.setVisible(target.isVisible() and not place.isEmpty())
        ring.surround(place)


def _shows_focus(widget: QWidget) -> bool:
    if isinstance(widget, (QPlainTextEdit, QTextEdit)):
        # A caret shows it; text that is only read has none.
        return not widget.isReadOnly()
    return isinstance(widget, _STYLED) or bool(widget.property(OWN_FOCUS))


def _bring_into_view(widget: QWidget) -> None:
    """Scroll to a widget: Qt does it only where the focus was in the same area before."""
    at = widget.parentWidget()
    while at is not None and not at.isWindow():
        if isinstance(at, QScrollArea) and at.widget() is not None:
            at.ensureWidgetVisible(widget, 8, 8)
        at = at.parentWidget()


def _seen_part(widget: QWidget) -> QRect:
    """Return the part of a widget, of tabs the current one, that can be seen, in its window."""
    place = widget.rect()
    if isinstance(widget, QTabBar):
        place = widget.tabRect(widget.currentIndex())
    window = widget.window()
    seen = QRect(widget.mapTo(window, place.topLeft()), place.size())
    if not isinstance(widget, QTabBar):
        # Around the widget where there is space for it, not over its text.
        seen.adjust(-WIDTH, -WIDTH, WIDTH, WIDTH)
    at = widget.parentWidget() if not widget.isWindow() else None
    while at is not None and at is not window:
        seen &= QRect(at.mapTo(window, QPoint()), at.size())
        at = at.parentWidget()
    return seen


class _Ring(QWidget):
    """The ring itself: above all else in a window, and transparent for the mouse."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def surround(self, place: QRect) -> None:
        """Cover the edge of a rectangle of the window."""
        self.setGeometry(place)
        inside = self.rect().adjusted(WIDTH + 2, WIDTH + 2, -WIDTH - 2, -WIDTH - 2)
        # What is inside is not painted again with the ring.
        self.setMask(QRegion(self.rect()) - QRegion(inside))
        self.raise_()

    def paintEvent(self, happened: QPaintEvent) -> None:  # noqa: ARG002
        """Paint the ring; called by Qt."""
        half = WIDTH / 2
        edge = QRectF(self.rect()).adjusted(half, half, -half, -half)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            color = self.palette().color(QPalette.ColorRole.Highlight)
            painter.setPen(QPen(color, WIDTH))
            painter.drawRoundedRect(edge, RADIUS, RADIUS)
