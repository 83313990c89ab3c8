"""Popup card that floats over the window until it is dismissed."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDockWidget,
    QFrame,
    QTextBrowser,
    QWidget,
)
from shiboken6 import isValid

from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.focus.reading_order import ReadingOrder
from gradscribe.widgets.base.focus.ring import OWN_FOCUS
from gradscribe.widgets.base.labels import plain_label
from gradscribe.widgets.base.menus import open_by_key
from gradscribe.widgets.base.painting.deferred_paint import DeferredPaint
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.stylesheet import set_sheet

SHADE = QColor(10, 16, 26, 70)


@runtime_checkable
class MovablePanel(Protocol):
    """A dock widget that gets out of the way of a card while it is a window over the main one."""

    def set_out_of_way(self, away: bool) -> None:
        """Disappear, or come back."""


class PopupCard(ReadingOrder):
    """Dim the window and show one card over it; Esc or a click outside the card closes it.

    Tab stays within the card.
    """

    def __init__(self, over: QWidget, width: int, height: int) -> None:
        for other in over.findChildren(PopupCard):
            other.leave()
        super().__init__(over)
        self._over = over
        self._wanted = (width, height)
        self._before: QWidget | None = over.window().focusWidget()
        self.card = QFrame(self)
        self.card.setProperty("panel", True)
        self.column = vbox(self.card, margins=(18, 16, 18, 18), spacing=10)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        # It shows the focus by being there: a ring at the edge of the window would only have the
        # whole window painted again.
        self.setProperty(OWN_FOCUS, True)
        self._paint = DeferredPaint(self)
        self._closing = single_shot(self, self.leave)
        self._moved_away: list[QDockWidget] = []
        """Panels in windows of their own that would lie over the card."""
        over.installEventFilter(self)
        self._settle()

    def open(self) -> None:
        """Show it on top and take the focus; the first paint is deferred by one event.

        Both creating and painting it take a while: the paint covers the whole window.
        """
        self._paint.suspend()
        self._clear_view()
        self.show()
        self.raise_()
        # Its key may have been pressed in a panel that is a window of its own.
        self.activateWindow()
        self.setFocus()

    def leave(self) -> None:
        """Close it and restore the focus."""
        self._over.removeEventFilter(self)
        self.close()
        self._restore_view()
        self._give_back()

    def leave_after(self, change: Callable[[], None]) -> None:
        """Call ``change`` on the window below, and close once the window shows the result.

        The window repaints one event later; closing before that would flash the old content.
        """
        # What the command does applies to the panels as they stand.
        self._restore_view()
        self._give_back()
        self._closing.start()
        change()

    @property
    def is_leaving(self) -> bool:
        """True while it is about to close after `leave_after`."""
        return self._closing.isActive()

    def _give_back(self) -> None:
        before, self._before = self._before, None
        # It may have been another card, deleted since.
        if before is not None and isValid(before) and before.isVisible():
            before.setFocus()

    def _clear_view(self) -> None:
        """Move panels in windows of their own out of the way: the system stacks them above."""
        corner = self._over.mapToGlobal(self.card.pos())
        place = QRect(corner, self.card.size())
        for panel in self._over.window().findChildren(QDockWidget):
            over = panel.isFloating() and panel.isVisible()
            if over and isinstance(panel, MovablePanel) and panel.frameGeometry().intersects(place):
                panel.set_out_of_way(True)
                self._moved_away.append(panel)

    def _restore_view(self) -> None:
        moved, self._moved_away = self._moved_away, []
        for panel in moved:
            if isValid(panel) and isinstance(panel, MovablePanel):
                panel.set_out_of_way(False)

    def _settle(self) -> None:
        self.setGeometry(self._over.rect())
        width = min(self._wanted[0], self.width() - 32)
        height = min(self._wanted[1], self.height() - 64)
        top = max(24, (self.height() - height) // 4)
        self.card.setGeometry((self.width() - width) // 2, top, width, height)

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Follow the size of the window below."""
        if watched is self._over and happened.type() == QEvent.Type.Resize:
            self._settle()
        return False

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Keep the card centred."""
        super().resizeEvent(happened)
        self._settle()

    def paintEvent(self, happened: QPaintEvent) -> None:
        """Dim the window below."""
        painter = QPainter(self)
        try:
            painter.fillRect(happened.rect(), SHADE)
        finally:
            painter.end()

    def mousePressEvent(self, happened: QMouseEvent) -> None:
        """Close on a click outside the card."""
        is_left = happened.button() == Qt.MouseButton.LeftButton
        if is_left and not self.card.geometry().contains(happened.position().toPoint()):
            self.leave()

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """Close on Esc; keep all other keys from the window below."""
        if happened.key() == Qt.Key.Key_Escape:
            self.leave()
        elif not open_by_key(happened):
            click_focused(happened)
        happened.accept()


def click_focused(key: QKeyEvent) -> bool:
    """Click the focused button if the key is Return; return whether it was clicked.

    Outside of dialogs Qt's buttons react to Space only.
    """
    button = QApplication.focusWidget()
    is_return = key.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not key.isAutoRepeat()
    if not is_return or not isinstance(button, QAbstractButton):
        return False
    button.click()
    return True


def rich_text_card(over: QWidget, title: str, text: str) -> PopupCard:
    """Return an overlay with a heading and a scrollable page of rich text."""
    overlay = PopupCard(over, 460, 560)
    heading = plain_label(title, "heading")
    # Not a QLabel: it lays out a long table a dozen times to find its size.
    body = QTextBrowser()
    body.setFrameShape(QFrame.Shape.NoFrame)
    body.setOpenLinks(False)
    body.setAccessibleName(title)
    set_sheet(body, "background: transparent; border: none; padding: 0px;")
    body.document().setDocumentMargin(0)
    body.setHtml(text)
    overlay.column.addWidget(heading)
    overlay.column.addWidget(body, 1)
    overlay.card.setAccessibleName(title)
    overlay.setFocusProxy(body)
    return overlay
