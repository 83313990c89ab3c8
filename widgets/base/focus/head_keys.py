"""Keys for the heads of tables, which the mouse alone reaches in Qt: widths, order, a click."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHeaderView, QTableView, QTreeView

STEP = 24
"""Pixels by which a key makes a column narrower or wider."""
_WIDTHS = {Qt.Key.Key_Left: -STEP, Qt.Key.Key_Right: STEP}
_ORDERS = {
    Qt.Key.Key_Up: Qt.SortOrder.AscendingOrder,
    Qt.Key.Key_Down: Qt.SortOrder.DescendingOrder,
}
_CLICKS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_HELD = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


class HeadKeys(QObject):
    """Use Ctrl+Shift with a key in a table for the head of the current cell's column.

    Left and Right change its width, Up and Down sort by it, Return clicks it.
    """

    def __init__(self, view: QTableView | QTreeView) -> None:
        super().__init__(view)
        self._view = view
        view.installEventFilter(self)

    def eventFilter(self, _watched: QObject, happened: QEvent) -> bool:
        """Use a key; called by Qt."""
        kinds = (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride)
        if not isinstance(happened, QKeyEvent) or happened.type() not in kinds:
            return False
        key = Qt.Key(happened.key())
        is_ours = key in _WIDTHS or key in _CLICKS or (key in _ORDERS and self._sorts())
        if not is_ours or happened.modifiers() & ~Qt.KeyboardModifier.KeypadModifier != _HELD:
            return False
        if happened.type() == QEvent.Type.ShortcutOverride:
            happened.accept()
        else:
            self._press(key)
        return True

    def _sorts(self) -> bool:
        return self._view.isSortingEnabled()

    def _press(self, key: Qt.Key) -> None:
        head = head_of(self._view)
        column = max(0, self._view.currentIndex().column())
        if key in _WIDTHS:
            if head.sectionResizeMode(column) == QHeaderView.ResizeMode.Interactive:
                wide = head.sectionSize(column) + _WIDTHS[key]
                head.resizeSection(column, max(head.minimumSectionSize(), wide))
        elif key in _ORDERS:
            self._view.sortByColumn(column, _ORDERS[key])
        else:
            head.sectionClicked.emit(column)


def head_of(view: QTableView | QTreeView) -> QHeaderView:
    """Return the head above the columns of a view."""
    return view.horizontalHeader() if isinstance(view, QTableView) else view.header()
