"""Widget with the small picture of an example's graph."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from gradscribe.app.document.example_pictures import SmallPicture
from gradscribe.widgets.base.theme import Theme

SIZE = QSize(84, 84)
MARGIN = 3.0
LARGEST_ZOOM = 0.32
LEAVES = ("parameter", "data", "constant")


class ExampleThumbnail(QWidget):
    """Boxes in the colours of their kinds, and lines between them."""

    def __init__(self, picture: SmallPicture, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._picture, self._theme = picture, theme
        self.setFixedSize(SIZE)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the picture as large as fits; called by Qt."""
        picture, theme = self._picture, self._theme
        inner = QRectF(self.rect()).adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        wide, high = max(1, picture.width), max(1, picture.height)
        zoom = min(LARGEST_ZOOM, inner.width() / wide, inner.height() / high)
        painter = QPainter(self)
        try:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.translate(inner.center() - QPointF(wide, high) * zoom / 2)
            painter.setPen(QPen(theme.edge, theme.stroke(1)))
            for line in picture.lines:
                points = zip(line[::2], line[1::2], strict=True)
                painter.drawPolyline(QPolygonF([QPointF(x, y) * zoom for x, y in points]))
            painter.setPen(Qt.PenStyle.NoPen)
            for kind, x, y, width, height in picture.boxes:
                # The colours of the minimap.
                leaf = theme.color(kind) if kind in LEAVES else theme.line_strong
                painter.setBrush(theme.ink if kind == "loss" else leaf)
                box = QRectF(x * zoom, y * zoom, max(2.0, width * zoom), max(2.0, height * zoom))
                painter.drawRoundedRect(box, 1.5, 1.5)
        finally:
            painter.end()
