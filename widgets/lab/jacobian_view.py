"""Jacobians: a matrix for each input tensor, with a row per cell of the result."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from gradscribe.engine.protocol.messages import Jacobian, Probed
from gradscribe.playback.lab import cells
from gradscribe.playback.lab.cells import Cell
from gradscribe.playback.text.formatting import fitting_number
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.theme import Theme, contrast, mono_font, ui_font
from gradscribe.widgets.graph.paint import heat
from gradscribe.widgets.lab.cells import PLAIN_UP_TO, fill_cells, fits_into

LARGEST, LEAST, NUMBERS_FROM = 30.0, 5.0, 23.0
TITLE, GAP = 22.0, 26.0
MAX_HEIGHT = 260.0


class JacobianView(QWidget):
    """Matrices side by side; row and column of the current cell are framed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = Theme.load("light")
        self._probed = Probed(0)
        self._cell: Cell | None = None
        self._places: list[QRectF] = []
        self.setAccessibleName(tr("Jacobian"))

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours."""
        self.theme = theme
        self.update()

    def show_probed(self, probed: Probed) -> None:
        """Show the Jacobians of other tensors."""
        self._probed = probed
        titles = [
            tr(
                "{title}: {shape} by {shape_2}",
                title=self.title(jacobian),
                shape=jacobian.shape[0],
                shape_2=jacobian.shape[1],
            )
            for jacobian in probed.jacobians
        ]
        self.setAccessibleDescription("; ".join(titles))
        self._arrange_matrices()
        self.update()

    def _arrange_matrices(self) -> None:
        """Arrange the matrices in rows as wide as the view."""
        self._places = []
        metrics = QFontMetricsF(mono_font(12))
        x = y = tallest = 0.0
        for jacobian in self._probed.jacobians:
            rows, columns = jacobian.shape
            side, title_width = (
                self._side(jacobian),
                metrics.horizontalAdvance(self.title(jacobian)),
            )
            wide, high = max(columns * side, title_width), TITLE + rows * side
            if x and x + wide > self.width():
                x, y, tallest = 0.0, y + tallest + GAP / 2, 0.0
            self._places.append(QRectF(x, y, wide, high))
            x, tallest = x + wide + GAP, max(tallest, high)
        height = round(max((place.bottom() for place in self._places), default=TITLE)) + 6
        if height != self.minimumHeight() or height != self.maximumHeight():
            self.setFixedHeight(height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Arrange the matrices again."""
        super().resizeEvent(event)
        self._arrange_matrices()

    def look_at(self, cell: object) -> None:
        """Frame the rows or columns of a `Cell`; None frames nothing."""
        self._cell = cell if isinstance(cell, Cell) else None
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size at which every matrix fits."""
        return QSize(300, self.minimumHeight())

    def title(self, jacobian: Jacobian) -> str:
        """Return ``∂result/∂a``."""
        result = cells.result_key(self._probed, jacobian.result).strip()
        return f"∂{result}/∂{self._probed.inputs[jacobian.input].name}"

    def _side(self, jacobian: Jacobian) -> float:
        rows, columns = (max(1, size) for size in jacobian.shape)
        return max(LEAST, min(LARGEST, MAX_HEIGHT / rows, 420.0 / columns))

    def framed(self, jacobian: Jacobian) -> tuple[int | None, int | None]:
        """Return the row and the column of the current cell."""
        if self._cell is None:
            return None, None
        is_row = self._cell.tensor == cells.result_key(self._probed, jacobian.result)
        is_column = self._cell.tensor == self._probed.inputs[jacobian.input].name
        return self._cell.flat if is_row else None, self._cell.flat if is_column else None

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the matrices in the exposed area."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for jacobian, place in zip(self._probed.jacobians, self._places, strict=True):
                if event.rect().intersects(place.toAlignedRect()):
                    self._paint(painter, jacobian, place)

    def _paint(self, painter: QPainter, jacobian: Jacobian, place: QRectF) -> None:
        theme, side = self.theme, self._side(jacobian)
        matrix = np.frombuffer(jacobian.data, "<f8").reshape(jacobian.shape)
        painter.setFont(mono_font(12))
        painter.setPen(theme.backward)
        painter.drawText(place.adjusted(0, 0, GAP, 0), self.title(jacobian))
        scale = heat.matrix_scale(matrix)
        painter.setFont(ui_font(9, 600))
        corner = place.topLeft() + QPointF(0, TITLE)
        if side <= PLAIN_UP_TO:
            # Thousands of separate rectangles would be slow.
            finite = np.nan_to_num(matrix, nan=0.0, posinf=0.0, neginf=0.0)
            size = QSizeF(side * jacobian.shape[1], side * jacobian.shape[0])
            painter.drawImage(QRectF(corner, size), heat.image(finite, theme.dark, scale))
        else:
            self._paint_cells(painter, matrix, corner, side, scale)
        self._frame(painter, jacobian, corner, side)

    def _paint_cells(
        self,
        painter: QPainter,
        matrix: NDArray[np.float64],
        corner: QPointF,
        side: float,
        scale: float,
    ) -> None:
        numbers, (x, y) = matrix.reshape(-1), corner.toTuple()
        boxes = [
            QRectF(x + column * side, y + row * side, side, side)
            for row, column in np.ndindex(matrix.shape)
        ]
        fills = heat.colors(numbers, scale, self.theme.dark)
        fill_cells(painter, fills, boxes, side)
        if side >= NUMBERS_FROM:
            self._write(painter, numbers, fills, boxes)

    def _write(
        self,
        painter: QPainter,
        numbers: NDArray[np.float64],
        fills: Sequence[QColor],
        boxes: Sequence[QRectF],
    ) -> None:
        theme, metrics = self.theme, painter.fontMetrics()
        for x, fill, box in zip(numbers.tolist(), fills, boxes, strict=True):
            label = fitting_number(x, partial(fits_into, metrics, box.width() - 2))
            if label:
                painter.setPen(max((theme.ink, theme.surface), key=lambda c: contrast(c, fill)))
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, label)

    def _frame(self, painter: QPainter, jacobian: Jacobian, corner: QPointF, side: float) -> None:
        row, column = self.framed(jacobian)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self.theme.selection, 2.0))
        (rows, columns), (x, y) = jacobian.shape, corner.toTuple()
        if row is not None and row < rows:
            painter.drawRect(QRectF(x, y + row * side, columns * side, side))
        if column is not None and column < columns:
            painter.drawRect(QRectF(x + column * side, y, side, rows * side))
