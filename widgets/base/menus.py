"""Small context menus of widgets, opened with the right button or the menu key."""

from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QApplication, QMenu, QWidget

Entry = tuple[str, Callable[[], object]]
"""Title and what it does; an empty title is a separator."""


def actions(parent: QObject, *entries: Entry) -> list[QAction]:
    """Return actions for a menu that is composed elsewhere."""
    made = []
    for title, do in entries:
        action = QAction(title.replace("&", "&&"), parent)
        action.setSeparator(not title)
        action.triggered.connect(lambda _checked=False, do=do: do())
        made.append(action)
    return made


def pop_up(owner: QWidget, at: QPoint, entries: Iterable[Entry]) -> QMenu:
    """Open a menu at a global point."""
    menu = QMenu(owner)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.addActions(actions(menu, *entries))
    menu.popup(at)
    return menu


def open_by_key(pressed: QKeyEvent) -> bool:
    """Open the menu of the focused widget on Shift+F10; return whether the key was that.

    Qt itself does this for the menu key, and for Shift+F10 on Windows alone.
    """
    is_asked = pressed.key() == Qt.Key.Key_F10
    if not is_asked or pressed.modifiers() != Qt.KeyboardModifier.ShiftModifier:
        return False
    focus = QApplication.focusWidget()
    if focus is None or QApplication.activePopupWidget() is not None:
        return False
    caret = focus.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle)
    box = caret.toRect() if isinstance(caret, QRectF) else caret
    is_placed = isinstance(box, QRect) and focus.rect().contains(box.center()) and not box.isNull()
    at = box.center() if is_placed else focus.rect().center()
    reason = QContextMenuEvent.Reason.Keyboard
    QApplication.sendEvent(focus, QContextMenuEvent(reason, at, focus.mapToGlobal(at)))
    return True


def copy_text(text: str) -> None:
    """Put a text on the clipboard."""
    QGuiApplication.clipboard().setText(text)
