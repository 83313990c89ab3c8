"""Controls in a column that scrolls: the wheel scrolls the column and changes none of them."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QAbstractSlider, QComboBox, QWidget


class _Still(QObject):
    """Hands the wheel on to whatever is around a control."""

    def eventFilter(self, _watched: QObject, happened: QEvent) -> bool:
        """Leave the wheel to the parents."""
        if happened.type() != QEvent.Type.Wheel:
            return False
        happened.ignore()
        return True


def keep_still(widget: QWidget) -> None:
    """Let the wheel pass over ``widget`` and the controls inside it."""
    for kind in (QComboBox, QAbstractSlider):
        found = [widget] if isinstance(widget, kind) else widget.findChildren(kind)
        for control in found:
            control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            control.installEventFilter(_Still(control))
