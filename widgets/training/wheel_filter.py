"""Wheel handling in a scrolling form: the wheel scrolls and never changes a control."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QAbstractSlider, QComboBox, QWidget


class _Still(QObject):
    """Event filter that passes wheel events on to a control's parent."""

    def eventFilter(self, _watched: QObject, happened: QEvent) -> bool:
        """Leave wheel events to the parents."""
        if happened.type() != QEvent.Type.Wheel:
            return False
        happened.ignore()
        return True


def ignore_wheel(widget: QWidget) -> None:
    """Make ``widget`` and the controls inside it ignore the wheel."""
    for kind in (QComboBox, QAbstractSlider):
        found = [widget] if isinstance(widget, kind) else widget.findChildren(kind)
        for control in found:
            control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            control.installEventFilter(_Still(control))
