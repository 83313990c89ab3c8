"""A line edit whose Return goes no further."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit


class ReturnEdit(QLineEdit):
    """A line edit that consumes Return after emitting `returnPressed`.

    QLineEdit propagates it. By then the focus may be on a button, which that would press too.
    """

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Consume Return."""
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()
