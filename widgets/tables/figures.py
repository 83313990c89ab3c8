"""Figures that a program plotted: small among its output, and as files."""

import contextlib

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, QSaveFile, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from gradscribe.engine.protocol.figures import Figure
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.painting.pixmap_cache import PixmapCache
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.figures.picture import FigurePicture, describe_figure

THUMBNAIL_SIZE = QSize(230, 150)


class FigureView(QAbstractButton):
    """One figure, drawn to fit; a click opens it large."""

    def __init__(self, figure: Figure, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.figure, self._theme = figure, theme
        self.picture = FigurePicture(figure)
        self._cache = PixmapCache(self, self._draw)
        self.setAccessibleName(
            tr("Figure: {describe_figure}", describe_figure=describe_figure(figure))
        )
        self.setToolTip(tr("Open this figure"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        self._theme = theme
        self._cache.refresh()

    def sizeHint(self) -> QSize:
        """Return a size of the figure's ratio at which curves are distinguishable."""
        height = THUMBNAIL_SIZE.height()
        return QSize(round(height * figure_ratio(self.figure)), height)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the figure, and a frame around it while it has the focus."""
        self._cache.paint(self.hasFocus())

    def _draw(self, painter: QPainter) -> None:
        self.picture.paint(painter, QRectF(self.rect()).adjusted(2, 2, -2, -2), self._theme)
        if self.hasFocus():
            painter.setPen(self._theme.selection)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)


def file_types(figure: Figure) -> tuple[str, ...]:
    """Return the formats in which a figure can be saved, the program's own first."""
    own = (figure.file_type,) if figure.file else ()
    return tuple(dict.fromkeys((*own, "png", *((figure.picture_type,)))))


def save_figure(picture: FigurePicture, path: str) -> str:
    """Write a figure in the format of the path, atomically; return a message for the user.

    The program's own file is written as the program made it; a format that there is not becomes
    the first of `file_types`.
    """
    figure = picture.figure
    kinds = file_types(figure)
    kind = (
        path.rpartition(".")[2].lower() if "." in path.replace("\\", "/").rpartition("/")[2] else ""
    )
    if kind not in kinds:
        kind = kinds[0]
        path = f"{path}.{kind}"
    data = _bytes_as(picture, kind)
    file = QSaveFile(path)
    written = file.open(QIODevice.OpenModeFlag.WriteOnly) and file.write(data) == data.size()
    if written and file.commit():
        return tr("Saved as {path}", path=path)
    return tr("{path} cannot be written: {errorstring}", path=path, errorstring=file.errorString())


def _bytes_as(picture: FigurePicture, kind: str) -> QByteArray:
    figure = picture.figure
    if figure.file and kind == figure.file_type:
        return QByteArray(figure.file)
    if kind == figure.picture_type:
        return QByteArray(figure.picture)
    data = QByteArray()
    with contextlib.closing(QBuffer(data)) as buffer:
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        picture.image().save(buffer, "PNG")  # type: ignore[call-overload]
    return data


def figure_ratio(figure: Figure) -> float:
    """Return width by height, within what a column of figures can show."""
    return min(2.5, max(0.6, figure.width / figure.height))
