"""A figure that a program drew with Matplotlib: read once, painted at any size."""

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QImage, QPainter

from gradscribe.engine.protocol.figures import Figure
from gradscribe.playback.translation import tr, translated
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.figures.matplotlib_svg import MatplotlibSvg

SAVED_SCALE = 2.0
"""Pixels per point of a picture that is saved without a file of the program's own."""
MAX_SAVED_SIDE = 8000
MAX_PNG_SIDE = 8192


class FigurePicture:
    """The picture of a figure, read when it is first painted."""

    def __init__(self, figure: Figure) -> None:
        self.figure = figure
        self.error = ""
        """Reason for which the picture cannot be read; else empty."""
        self._svg: MatplotlibSvg | None = None
        self._image: QImage | None = None
        self._is_read = False

    def read(self) -> None:
        """Read the picture; what is wrong with it is then in `error`."""
        if self._is_read:
            return
        self._is_read = True
        if self.figure.picture_type == "svg":
            try:
                self._svg = MatplotlibSvg(self.figure.picture)
            except ValueError as error:
                self.error = str(error)
            return
        image = QImage.fromData(self.figure.picture, "PNG")  # type: ignore[arg-type]
        if image.isNull() or max(image.width(), image.height()) > MAX_PNG_SIDE:
            self.error = tr("The figure cannot be read: it is no PNG")
        else:
            self._image = image

    def area_in(self, place: QRectF) -> QRectF:
        """Return the largest area with the figure's ratio in the middle of ``place``."""
        self.read()
        size = self._size().scaled(place.size(), Qt.AspectRatioMode.KeepAspectRatio)
        area = QRectF(QPointF(), size)
        area.moveCenter(place.center())
        return area

    def paint(self, painter: QPainter, place: QRectF, theme: Theme) -> QRectF:
        """Paint the figure on white paper with a thin border; return its area."""
        area = self.area_in(place)
        self.paint_in(painter, area, theme)
        return area

    def paint_in(self, painter: QPainter, area: QRectF, theme: Theme) -> None:
        """Paint the figure into an area of its ratio, on white paper with a thin border."""
        self.read()
        painter.save()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor("white"))
        painter.drawRect(area)
        if self._svg is not None:
            self._svg.paint(painter, area)
        elif self._image is not None:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            pixels = (area.size() * painter.device().devicePixelRatioF()).toSize()
            shown = self._image
            if pixels.width() < shown.width():
                # In one step a large picture would lose its thin lines.
                shown = shown.scaled(
                    pixels,
                    Qt.AspectRatioMode.IgnoreAspectRatio,
                    Qt.TransformationMode.SmoothTransformation,
                )
            painter.drawImage(area, shown)
        else:
            painter.setPen(QColor("black"))
            painter.setFont(theme.font(12))
            flags = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
            painter.drawText(area.adjusted(8, 8, -8, -8), flags, self.error)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(theme.line)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(area.adjusted(0, 0, -1, -1))
        painter.restore()

    def image(self) -> QImage:
        """Return the figure as an image, at `SAVED_SCALE`, without a border."""
        self.read()
        if self._svg is None:
            return self._image if self._image is not None else QImage()
        size = self._size()
        scale = min(SAVED_SCALE, MAX_SAVED_SIDE / max(size.width(), size.height()))
        image = QImage((size * scale).toSize(), QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(QColor("white"))
        with QPainter(image) as painter:
            self._svg.paint(painter, QRectF(image.rect()))
        return image

    def _size(self) -> QSizeF:
        """Return the size of the picture: a tight box differs from the figure's."""
        if self._svg is not None:
            return self._svg.size
        if self._image is not None:
            return QSizeF(self._image.size())
        return QSizeF(self.figure.width, self.figure.height)


def describe_figure(figure: Figure) -> str:
    """Return a description of a figure: its title and what its axes show."""
    texts = dict.fromkeys(filter(None, (figure.title, figure.description, translated(figure.note))))
    return ": ".join(texts) or figure.name or tr("A figure")
