"""Jacobians: a matrix for each tensor that goes in, rows for the result's cells."""

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from engine.wire import Jacobian, Probed
from playback.lab import places
from playback.lab.places import Cell
from widgets.paint import heat
from widgets.panes.heatmap import scale_of, short
from widgets.theme import Theme, contrast, mono_font, ui_font

LARGEST, LEAST, NUMBERS_FROM = 30.0, 5.0, 23.0
TITLE, GAP = 22.0, 26.0
TALLEST = 260.0


class JacobianView(QWidget):
    """Matrices side by side; the row and column of the cell looked at are framed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = Theme.load("light")
        self._probed = Probed(0)
        self._cell: Cell | None = None
        self.setAccessibleName("Jacobian")

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours."""
        self.theme = theme
        self.update()

    def show_probed(self, probed: Probed) -> None:
        """Show the Jacobians of other tensors."""
        self._probed = probed
        titles = [
            f"{self.title(one)}: {one.shape[0]} by {one.shape[1]}" for one in probed.jacobians
        ]
        self.setAccessibleDescription("; ".join(titles))
        tallest = max((one.shape[0] * self._side(one) for one in probed.jacobians), default=0.0)
        self.setFixedHeight(round(TITLE + tallest) + 6)
        self.update()

    def look_at(self, cell: object) -> None:
        """Frame the rows or columns of a `Cell`; None frames nothing."""
        self._cell = cell if isinstance(cell, Cell) else None
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size at which every matrix shows."""
        return QSize(300, self.minimumHeight())

    def title(self, one: Jacobian) -> str:
        """Return ``∂result/∂a``."""
        result = places.result_key(self._probed, one.result).strip()
        return f"∂{result}/∂{self._probed.inputs[one.input].name}"

    def _side(self, one: Jacobian) -> float:
        rows, columns = (max(1, size) for size in one.shape)
        return max(LEAST, min(LARGEST, TALLEST / rows, 420.0 / columns))

    def framed(self, one: Jacobian) -> tuple[int | None, int | None]:
        """Return the row and the column that belong to the cell looked at."""
        if self._cell is None:
            return None, None
        is_row = self._cell.tensor == places.result_key(self._probed, one.result)
        is_column = self._cell.tensor == self._probed.inputs[one.input].name
        return self._cell.flat if is_row else None, self._cell.flat if is_column else None

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw one matrix after the other."""
        painter = QPainter(self)
        try:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            x = 0.0
            for one in self._probed.jacobians:
                x = self._paint(painter, one, x) + GAP
        finally:
            painter.end()

    def _paint(self, painter: QPainter, one: Jacobian, left: float) -> float:
        theme, side = self.theme, self._side(one)
        matrix = np.frombuffer(one.data, "<f8").reshape(one.shape)
        painter.setFont(mono_font(12))
        painter.setPen(theme.backward)
        width = max(one.shape[1] * side, painter.fontMetrics().horizontalAdvance(self.title(one)))
        painter.drawText(QRectF(left, 0, width + GAP, TITLE), self.title(one))
        scale = scale_of(matrix)
        painter.setFont(ui_font(9, 600))
        for (row, column), x in np.ndenumerate(matrix):
            box = QRectF(left + column * side, TITLE + row * side, side, side)
            fill = heat.color(float(x), scale, theme.dark)
            gap = 0.6 if side > 9 else 0.2
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(fill)
            painter.drawRoundedRect(box.adjusted(gap, gap, -gap, -gap), 2, 2)
            said = short(float(x)) if side >= NUMBERS_FROM else ""
            if said and painter.fontMetrics().horizontalAdvance(said) < side - 1:
                ink = max((theme.ink, theme.surface), key=lambda c: contrast(c, fill))
                painter.setPen(ink)
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, said)
        self._frame(painter, one, left, side)
        return left + width

    def _frame(self, painter: QPainter, one: Jacobian, left: float, side: float) -> None:
        row, column = self.framed(one)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self.theme.selection, 2.0))
        rows, columns = one.shape
        if row is not None and row < rows:
            painter.drawRect(QRectF(left, TITLE + row * side, columns * side, side))
        if column is not None and column < columns:
            painter.drawRect(QRectF(left + column * side, TITLE, side, rows * side))
