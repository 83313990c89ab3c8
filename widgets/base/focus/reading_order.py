"""Tab in the order in which a page is read, whatever the order in which its widgets were made."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QWidget


class ReadingOrder(QWidget):
    """A widget within which Tab and Shift+Tab go through rows from the top, each from the left."""

    def focusNextPrevChild(self, ahead: bool) -> bool:
        """Give the focus to the next widget, or to the one before; called by Qt."""
        after = neighbour(self, self.window().focusWidget(), ahead)
        if after is None:
            return super().focusNextPrevChild(ahead)
        reasons = Qt.FocusReason
        after.setFocus(reasons.TabFocusReason if ahead else reasons.BacktabFocusReason)
        return True


def neighbour(root: QWidget, here: QWidget | None, ahead: bool) -> QWidget | None:
    """Return what follows ``here`` in the order of reading, or precedes it, around the ends.

    Returns None if nothing under ``root`` takes the focus by Tab.
    """
    order = list(focusable(root))
    while here is not None and here is not root and here not in order:
        here = here.parentWidget()
    if here in order:
        return order[(order.index(here) + (1 if ahead else -1)) % len(order)]
    return order[0 if ahead else -1] if order else None


def focusable(root: QWidget) -> Iterator[QWidget]:
    """Yield the visible widgets under ``root`` that take the focus by Tab, in order of reading."""
    inside = [
        child
        for child in root.children()
        if isinstance(child, QWidget) and child.isVisible() and not child.isWindow()
    ]
    for child in _read(inside):
        if child.focusPolicy() & Qt.FocusPolicy.TabFocus and _takes_focus(child):
            yield child
        yield from focusable(child)


def _takes_focus(widget: QWidget) -> bool:
    # The line of text in a compound control is reached by the control.
    part = isinstance(widget.parent(), QAbstractSpinBox | QComboBox)
    return widget.isEnabled() and widget.focusProxy() is None and not part


def _read(widgets: Sequence[QWidget]) -> list[QWidget]:
    """Sort siblings: a widget whose middle lies above the lower edge of a row belongs to it."""
    rows: list[list[QWidget]] = []
    bottom = 0
    for widget in sorted(widgets, key=lambda widget: widget.y()):
        if not rows or widget.geometry().center().y() > bottom:
            rows.append([])
            bottom = widget.geometry().bottom()
        rows[-1].append(widget)
        bottom = max(bottom, widget.geometry().bottom())
    return [
        widget
        for row in rows
        for widget in sorted(row, key=lambda widget: (widget.x(), widget.y()))
    ]
