"""A row of widgets that continues on further lines where it is too narrow."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Widgets from left to right at their preferred sizes, in as many lines as they need."""

    def __init__(self, *widgets: QWidget, spacing: int = 6) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)
        for widget in widgets:
            self.addWidget(widget)

    def addItem(self, item: QLayoutItem) -> None:
        """Append an item; called by Qt."""
        self._items.append(item)

    def count(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """Return an item; None past the end."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Remove and return an item; None past the end."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """Return none: further width and height are of no use."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """Return True."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height in pixels of all lines at a width in pixels."""
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, area: QRect) -> None:
        """Place the items in an area."""
        super().setGeometry(area)
        self._arrange(area, move=True)

    def sizeHint(self) -> QSize:
        """Return the size of a single line."""
        sizes = [item.sizeHint() for item in self._items if not item.isEmpty()]
        gaps = self.spacing() * max(0, len(sizes) - 1)
        width = sum(size.width() for size in sizes) + gaps
        return QSize(width, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:
        """Return the least width of the widest and the height of the highest item."""
        size = QSize()
        for item in self._items:
            if not item.isEmpty():
                size = size.expandedTo(QSize(item.minimumSize().width(), item.sizeHint().height()))
        return size

    def _arrange(self, area: QRect, move: bool) -> int:
        """Return the height of all lines in pixels, placing the items if ``move``.

        The items of a line are centred on it.
        """
        y = area.y()
        for line in self._lines(area.width()):
            x, high = area.x(), max(item.sizeHint().height() for item in line)
            for item in line if move else ():
                size = item.sizeHint()
                above, wide = (high - size.height()) // 2, min(size.width(), area.width())
                item.setGeometry(QRect(x, y + above, wide, size.height()))
                x += size.width() + self.spacing()
            y += high + self.spacing()
        return max(0, y - self.spacing() - area.y())

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        """Return the items that are shown, by line."""
        lines: list[list[QLayoutItem]] = []
        right = 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint().width()
            if not lines or right + size > width:
                lines.append([])
                right = 0
            lines[-1].append(item)
            right += size + self.spacing()
        return lines
