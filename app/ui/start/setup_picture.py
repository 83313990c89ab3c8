"""Small picture of a set-up's data: points in the shapes of their classes, or a grey picture."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from gradscribe.app.ui.start.setup_pictures import LEVELS, SIDE, SetupPicture
from gradscribe.widgets.base.theme import Theme, mix
from gradscribe.widgets.plots.drawing.colors import class_color, class_shape, draw_mark

SIZE = QSize(84, 84)
MARGIN, DOT = 5.0, 2.2


class SetupThumbnail(QWidget):
    """Draws the data that a set-up trains on."""

    def __init__(self, picture: SetupPicture, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._picture, self._theme = picture, theme
        self.setFixedSize(SIZE)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def paintEvent(self, _happened: QPaintEvent) -> None:
        """Draw the picture; called by Qt."""
        inner = QRectF(self.rect()).adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_pixels(painter, inner)
            self._paint_points(painter, inner)

    def _paint_points(self, painter: QPainter, inner: QRectF) -> None:
        theme = self._theme
        painter.setPen(Qt.PenStyle.NoPen)
        for x, y, kind in self._picture.points:
            at = QPointF(
                inner.left() + inner.width() * x / SIDE, inner.bottom() - inner.height() * y / SIDE
            )
            color = theme.data if kind < 0 else class_color(kind, theme.dark)
            painter.setBrush(color)
            shape = "circle" if kind < 0 else class_shape(kind)
            if shape == "cross":
                painter.setPen(QPen(color, 1.2))
            draw_mark(painter, shape, at, DOT)

    def _paint_pixels(self, painter: QPainter, inner: QRectF) -> None:
        rows = self._picture.pixels
        side = inner.width() / max(1, len(rows))
        painter.setPen(Qt.PenStyle.NoPen)
        for at, row in enumerate(rows):
            for column, level in enumerate(row):
                painter.setBrush(mix(self._theme.ink, self._theme.surface, level / LEVELS))
                painter.drawRect(
                    QRectF(inner.left() + column * side, inner.top() + at * side, side, side)
                )
