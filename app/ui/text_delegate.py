"""Item delegate that paints text like labels; a QLabel per row makes lists slow to open."""

import math

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPalette
from PySide6.QtWidgets import QLabel, QStyledItemDelegate, QWidget

AnyModelIndex = QModelIndex | QPersistentModelIndex
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class TextDelegate(QStyledItemDelegate):
    """Base of delegates that write text in the fonts and colours of the label roles."""

    def __init__(self, parent: QWidget, *roles: str) -> None:
        super().__init__(parent)
        self._labels: dict[str, QLabel] = {}
        for role in roles:
            # Never shown: it gets font and colour of its role from the style sheet.
            label = self._labels[role] = QLabel(parent)
            label.setProperty("role", role)
            label.hide()

    def write(
        self, painter: QPainter, role: str, words: str, room: QRect, flags: Qt.AlignmentFlag = LEFT
    ) -> int:
        """Write text into the rectangle ``room``, elided; return its full width in pixels."""
        label = self._labels[role]
        label.ensurePolished()
        painter.setFont(label.font())
        painter.setPen(label.palette().color(QPalette.ColorRole.WindowText))
        metrics = label.fontMetrics()
        shown = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, flags, shown)
        return metrics.horizontalAdvance(words)

    def color_of(self, role: str) -> QColor:
        """Return the colour of a role's text."""
        self._labels[role].ensurePolished()
        return QColor(self._labels[role].palette().color(QPalette.ColorRole.WindowText))

    def width_of(self, role: str, words: str) -> int:
        """Return the width in pixels that a text needs to be written whole."""
        self._labels[role].ensurePolished()
        # Whole pixels round the text's width down, and `elidedText` then cuts it.
        return math.ceil(QFontMetricsF(self._labels[role].font()).horizontalAdvance(words)) + 1

    def height_of(self, role: str) -> int:
        """Return the height of a line of text in pixels."""
        self._labels[role].ensurePolished()
        return self._labels[role].fontMetrics().height()
