"""Words in the rows of a list, as labels have them: labels of their own take most of opening."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QPainter, QPalette
from PySide6.QtWidgets import QLabel, QStyledItemDelegate, QWidget

Index = QModelIndex | QPersistentModelIndex
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class Written(QStyledItemDelegate):
    """Rows whose words a subclass writes, by the roles that labels have in the style sheet."""

    def __init__(self, parent: QWidget, *roles: str) -> None:
        super().__init__(parent)
        self._labels: dict[str, QLabel] = {}
        for role in roles:
            # Never seen: the style sheet gives it the font and the colour of its words.
            label = self._labels[role] = QLabel(parent)
            label.setProperty("role", role)
            label.hide()

    def write(
        self, painter: QPainter, role: str, words: str, room: QRect, flags: Qt.AlignmentFlag = LEFT
    ) -> int:
        """Write words into ``room``, cut off where they are too long; return how wide they are."""
        label = self._labels[role]
        label.ensurePolished()
        painter.setFont(label.font())
        painter.setPen(label.palette().color(QPalette.ColorRole.WindowText))
        metrics = label.fontMetrics()
        shown = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, flags, shown)
        return metrics.horizontalAdvance(words)

    def width_of(self, role: str, words: str) -> int:
        """Return how wide words are."""
        self._labels[role].ensurePolished()
        return self._labels[role].fontMetrics().horizontalAdvance(words)

    def height_of(self, role: str) -> int:
        """Return how high a line of words is."""
        self._labels[role].ensurePolished()
        return self._labels[role].fontMetrics().height()
