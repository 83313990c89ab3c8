"""Small context menus of widgets, opened with the right button or the menu key."""

from collections.abc import Callable, Iterable

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QMenu, QWidget

from gradscribe.playback.translation import tr

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


class RowMenu(QObject):
    """Opens the menu of a row: of that under the mouse, by keyboard of the current one.

    ``open_at`` gets the row's index and a global point. Qt itself would open the menu of whatever
    row is in the middle of the view when a key asks for it.
    """

    def __init__(
        self, view: QAbstractItemView, open_at: Callable[[QModelIndex, QPoint], object]
    ) -> None:
        super().__init__(view)
        self._view, self._open_at = view, open_at
        for part in (view, view.viewport()):
            part.installEventFilter(self)

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Open the menu; called by Qt."""
        if not isinstance(happened, QContextMenuEvent):
            return False
        viewport = self._view.viewport()
        if happened.reason() == QContextMenuEvent.Reason.Keyboard:
            index, at = self._current()
        elif watched is viewport:
            at = happened.pos()
            index = self._view.indexAt(at)
        else:
            return False
        if index.isValid():
            self._open_at(index, viewport.mapToGlobal(at))
        return True

    def _current(self) -> tuple[QModelIndex, QPoint]:
        """Return the current row, or the first, and a point in it, scrolled to."""
        view = self._view
        index, model = view.currentIndex(), view.model()
        if not index.isValid() and model is not None and model.rowCount():
            index = model.index(0, 0)
        view.scrollTo(index)
        seen = view.visualRect(index).intersected(view.viewport().rect())
        return index, seen.center()


def offer_copies(
    view: QAbstractItemView, *entries: Entry, role: int = Qt.ItemDataRole.DisplayRole
) -> RowMenu:
    """Give a view a menu: ``entries`` about its current row, then copies of the row and of all.

    ``role``: that of the texts that are copied.
    """

    def copy_rows(rows: Iterable[QModelIndex]) -> None:
        copy_text("\n".join("\t".join(_cells(row, role)) for row in rows))

    def open_at(index: QModelIndex, at: QPoint) -> None:
        view.setCurrentIndex(index)
        count = view.model().rowCount(index.parent())
        copies: tuple[Entry, ...] = (
            (tr("Copy the row"), lambda: copy_rows([index])),
            (tr("Copy the table"), lambda: copy_rows(map(index.siblingAtRow, range(count)))),
        )
        gap: tuple[Entry, ...] = (("", lambda: None),) if entries else ()
        pop_up(view, at, (*entries, *gap, *copies))

    return RowMenu(view, open_at)


def _cells(index: QModelIndex, role: int) -> list[str]:
    """Return the texts of the row of an index."""
    columns = range(index.model().columnCount(index.parent()))
    found = (index.siblingAtColumn(n).data(role) for n in columns)
    return ["" if cell is None else str(cell) for cell in found]


def place_in(widget: QWidget, asked: QContextMenuEvent) -> QPoint:
    """Return the global point for a menu: the mouse, or by keyboard the middle of the widget."""
    if asked.reason() == QContextMenuEvent.Reason.Keyboard:
        return widget.mapToGlobal(widget.rect().center())
    return asked.globalPos()


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
