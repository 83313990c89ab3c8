"""The heatmap pane: a tensor's slice as coloured cells, orange negative and blue positive."""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFocusEvent,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QLinearGradient,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QToolTip, QWidget

from gradscribe.playback.explain import attention
from gradscribe.playback.text import formatting as words
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.labels import Label, tip
from gradscribe.widgets.base.painting.pixmap_cache import PixmapCache
from gradscribe.widgets.base.theme import Theme, contrast, faded, ui_font
from gradscribe.widgets.graph.paint import heat
from gradscribe.widgets.inspector.panes.axis_names import AxisNames
from gradscribe.widgets.inspector.panes.page import InspectorPage, as_matrix, to_float64
from gradscribe.widgets.inspector.panes.pane import Pane

LARGEST_CELL, TALLEST = 34.0, 300.0
CELLS_FROM = 6.0
"""Cell size in pixels from which cells are drawn one by one; smaller ones as an image."""
NUMBERS_FROM = 26.0
SCALE_HEIGHT = 30.0
ALL_NUMBERS_UP_TO = 16
"""Up to this many cells show all numbers, even those close to zero."""
_STEPS: dict[int, tuple[int, int]] = {
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
}


class HeatView(QWidget):
    """Coloured cells with their colour scale; hovering shows a number, a click or a key picks it.

    Rows and columns may have names; a map with names marks a whole row and has no scale.
    """

    element_picked = Signal(int, int)
    """Row and column."""
    row_hovered = Signal(int)
    """The row under the mouse; -1 for none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = Theme.load("light")
        self.numbers: NDArray[np.float64] = np.zeros((0, 0))
        self.exact: NDArray[np.generic] | None = None
        self.scale = 0.0
        self.chosen: tuple[int, int] | None = None
        self.names: AxisNames | None = None
        self.row: int | None = None
        """The row that is marked, of a map with names."""
        self._hovered = -1
        self._kept = PixmapCache(self, self._paint)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def show_numbers(
        self,
        numbers: NDArray[np.float64],
        exact: NDArray[np.generic] | None,
        scale: float,
        chosen: tuple[int, int] | None,
    ) -> None:
        """Show a matrix; ``exact`` are the numbers for tooltips (None for a thumbnail)."""
        self.numbers, self.exact, self.scale, self.chosen = numbers, exact, scale, chosen
        rows, columns = numbers.shape
        self.setAccessibleName(
            tr("Heatmap of {rows} by {columns} numbers", rows=rows, columns=columns)
        )
        self.updateGeometry()
        self._kept.refresh()

    def show_names(self, names: AxisNames | None, row: int | None, words: str = "") -> None:
        """Name rows and columns, and mark a row that ``words`` describe; None removes the names."""
        if (names, row) != (self.names, self.row):
            self.names, self.row = names, row
            self.updateGeometry()
            self._kept.refresh()
        self.setAccessibleDescription(words)

    def cell(self, width: float) -> tuple[float, float]:
        """Return width and height of a cell in a view ``width`` pixels wide."""
        rows, columns = self.numbers.shape
        if not rows or not columns:
            return 0.0, 0.0
        left = self.names.left(width) if self.names is not None else 0.0
        wide = min(LARGEST_CELL, (width - left) / columns)
        high = min(max(wide, 14.0 if rows == 1 else 0.0), TALLEST / rows)
        return wide, high

    def heightForWidth(self, width: int) -> int:
        """Return the height of cells and of scale or names for ``width``."""
        rows: int = self.numbers.shape[0]
        wide, high = self.cell(width)
        below = SCALE_HEIGHT if self.names is None else self.names.below(wide)
        return round(high * rows + below)

    def hasHeightForWidth(self) -> bool:
        """Return True: cells keep their aspect ratio."""
        return True

    def sizeHint(self) -> QSize:
        """Return the size at the current width."""
        return QSize(200, self.heightForWidth(max(200, self.width())))

    def at(self, point: QPointF) -> tuple[int, int] | None:
        """Return row and column under a point, or None outside the cells."""
        wide, high = self.cell(self.width())
        rows, columns = self.numbers.shape
        x = point.x() - self._left()
        if not wide or not high or x < 0 or point.y() < 0:
            return None
        row, column = int(point.y() / high), int(x / wide)
        return (row, column) if row < rows and column < columns else None

    def _left(self) -> float:
        return self.names.left(self.width()) if self.names is not None else 0.0

    def event(self, e: QEvent) -> bool:
        """Show the number under the mouse as a tooltip."""
        if isinstance(e, QHelpEvent) and e.type() == QEvent.Type.ToolTip:
            place = self.at(QPointF(e.pos()))
            if place is not None and self.exact is not None:
                number = words.number(self.exact[place].item())
                where = "" if self.names is None else self.names.place(*place)
                said = f"[{place[0]}, {place[1]}]  {where}{number}"
                QToolTip.showText(e.globalPos(), tip(said), self)
            return True
        return super().event(e)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Pick the cell under the mouse."""
        place = self.at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and place and self.exact is not None:
            self.element_picked.emit(*place)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Report the row under the mouse."""
        place = self.at(event.position())
        self._hover(-1 if place is None else place[0])

    def leaveEvent(self, _event: QEvent) -> None:
        """Report that the mouse is over no row."""
        self._hover(-1)

    def _hover(self, row: int) -> None:
        if row != self._hovered:
            self._hovered = row
            self.row_hovered.emit(row)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Pick the neighbour of the chosen cell."""
        step = _STEPS.get(event.key())
        if step is None or self.exact is None or not self.numbers.size:
            event.ignore()
            return
        rows, columns = self.numbers.shape
        row, column = self.chosen or (self.row or 0, 0)
        row, column = row + step[0], column + step[1]
        self.element_picked.emit(max(0, min(row, rows - 1)), max(0, min(column, columns - 1)))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus."""
        super().focusInEvent(event)
        self._kept.refresh()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Show that the focus is gone."""
        super().focusOutEvent(event)
        self._kept.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours."""
        self.theme = theme
        self._kept.refresh()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw cells, numbers where they fit, and the scale."""
        if self.numbers.size:
            self._kept.paint()

    def _paint(self, painter: QPainter) -> None:
        wide, high = self.cell(self.width())
        rows, columns = self.numbers.shape
        left = self._left()
        if self.names is not None:
            painter.save()
            self.names.paint(painter, self.theme, (left, wide, high), self.row)
            painter.restore()
        painter.translate(left, 0)
        if min(wide, high) >= CELLS_FROM:
            self._paint_cells(painter, wide, high)
        else:
            self._paint_image(painter, wide, high)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if self.hasFocus():
            painter.setPen(QPen(self.theme.selection, self.theme.stroke(1), Qt.PenStyle.DotLine))
            painter.drawRect(QRectF(0.5, 0.5, columns * wide - 1, rows * high - 1))
        if self.row is not None and self.row < rows:
            painter.setPen(QPen(self.theme.selection, self.theme.stroke(2)))
            box = QRectF(0, self.row * high, columns * wide, high)
            painter.drawRoundedRect(box.adjusted(1, 0, -1, 0), 3, 3)
        if self.chosen is not None:
            row, column = self.chosen
            painter.setPen(QPen(self.theme.selection, self.theme.stroke(2)))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            box = QRectF(column * wide, row * high, max(4.0, wide), max(4.0, high))
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 3, 3)
        painter.translate(-left, 0)
        if self.names is None:
            self._paint_scale(painter, high * rows + 6)

    def shows_number(self, x: float) -> bool:
        """Return whether to draw a number into its cell: not for pale cells close to zero."""
        return (
            not math.isfinite(x)
            or abs(x) >= 0.05 * self.scale
            or self.numbers.size <= ALL_NUMBERS_UP_TO
        )

    def fill(self, x: float) -> QColor:
        """Return the colour of a number's cell: neutral for infinities, amber for NaN."""
        if math.isfinite(x):
            return heat.color(x, self.scale, self.theme.dark)
        return self.theme.data_soft if math.isnan(x) else self.theme.line

    def hatch(self, x: float) -> QBrush:
        """Return the hatching over a cell: lines for infinities, crossed lines for NaN."""
        if math.isfinite(x):
            return QBrush(Qt.BrushStyle.NoBrush)
        if math.isnan(x):
            return QBrush(faded(self.theme.data, 0.5), Qt.BrushStyle.DiagCrossPattern)
        return QBrush(faded(self.theme.ink3, 0.35), Qt.BrushStyle.BDiagPattern)

    def _paint_image(self, painter: QPainter, wide: float, high: float) -> None:
        grid = heat.thin(self.numbers, 1024, 1024)
        box = QRectF(0, 0, wide * self.numbers.shape[1], high * self.numbers.shape[0])
        bad = float("nan") if np.isnan(self.numbers).any() else float("inf")
        painter.fillRect(box, self.fill(bad))
        painter.fillRect(box, self.hatch(bad))
        painter.drawImage(box, heat.image(grid, self.theme.dark, self.scale))

    def _paint_cells(self, painter: QPainter, wide: float, high: float) -> None:
        gap = 0.8 if wide > 9 else 0.4
        radius = 3.0 if wide > 16 else 1.0
        font = ui_font(10, 600)
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        is_readable = wide >= NUMBERS_FROM and high >= 14

        def fits(text: str) -> bool:
            return metrics.horizontalAdvance(text) < wide - 3

        for (row, column), number in np.ndenumerate(self.numbers):
            x = float(number)
            box = QRectF(column * wide, row * high, wide, high).adjusted(gap, gap, -gap, -gap)
            fill = self.fill(x)
            painter.setPen(Qt.PenStyle.NoPen)
            for brush in (fill,) if math.isfinite(x) else (fill, self.hatch(x)):
                painter.setBrush(brush)
                painter.drawRoundedRect(box, radius, radius)
            if is_readable and self.shows_number(x):
                painter.setPen(_ink(fill.rgb(), self.theme))
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words.fitting_number(x, fits))

    def _paint_scale(self, painter: QPainter, y: float) -> None:
        left, right = words.MINUS + scale_text(self.scale), "+" + scale_text(self.scale)
        if self.scale <= 0:
            left, right = "0", "0"
        metrics = QFontMetricsF(ui_font(11))
        ends = metrics.horizontalAdvance(left) + metrics.horizontalAdvance(right) + 18
        width = max(10.0, min(160.0, self.width() - ends))
        bar = QRectF(0, y + 6, width, 6)
        blend = QLinearGradient(bar.topLeft(), bar.topRight())
        for step in range(17):
            blend.setColorAt(step / 16, heat.color(step / 8 - 1, 1.0, self.theme.dark))
        x = metrics.horizontalAdvance(left) + 8
        painter.setPen(self.theme.ink2)
        painter.setFont(ui_font(11))
        base = bar.center().y() + metrics.ascent() / 2 - 1
        painter.drawText(QPointF(0, base), left)
        painter.drawText(QPointF(x + width + 8, base), right)
        painter.translate(x, 0)
        painter.setPen(QPen(self.theme.line, self.theme.stroke(1)))
        painter.setBrush(blend)
        painter.drawRoundedRect(bar, 2, 2)
        painter.translate(-x, 0)


@lru_cache(maxsize=1024)
def _ink(fill: int, theme: Theme) -> QColor:
    """Return the text colour with the better contrast on a cell."""
    ink = theme.ink if theme.dark else theme.surface
    other = theme.surface if theme.dark else theme.ink
    return max(ink, other, key=lambda c: contrast(c, QColor(fill)))


def scale_text(limit: float) -> str:
    """Return the end of a scale with three significant digits."""
    return f"{limit:.3g}".replace("-", words.MINUS)


class HeatmapPane(Pane):
    """The heatmap of value or gradient; for a big tensor of its recorded thumbnail."""

    order = 10
    numbers_only = True

    def __init__(self) -> None:
        super().__init__()
        self._note = Label("caption", "", self)
        self.view = HeatView(self)
        self.looks = QFrame(self)
        self.looks.setProperty("row", "selection")
        self.sentence = Label("words", "", self.looks).selectable()
        self.sentence.setAccessibleName(tr("The strongest column of the row"))
        vbox(self.looks, self.sentence, margins=(12, 7, 12, 7))
        self.looks.hide()
        self.column.addWidget(self._note)
        self.column.addWidget(self.view)
        self.column.addWidget(self.looks)
        self._is_attention = False
        self._names: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self._row = 0
        """The row that is described where the mouse is over none."""
        self.view.row_hovered.connect(self._describe)
        self._first = 0
        self._columns = 0
        self.view.element_picked.connect(self._pick)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours."""
        super().set_theme(theme)
        self.view.set_theme(theme)

    def show_page(self, page: InspectorPage) -> bool:
        """Show the chosen slice; hidden for scalars and empty tensors."""
        snapshot, array = page.snapshot(), page.array()
        if snapshot is None or snapshot.numel < 2:
            return False
        if array is None:
            if snapshot.thumb is None or 0 in snapshot.thumb_shape:
                return False
            grid = np.frombuffer(snapshot.thumb, "<f4").reshape(snapshot.thumb_shape)
            numbers = to_float64(grid)
            self._say(
                tr(
                    "A sample of {shape}, {rows_text}",
                    shape=words.shape(snapshot.shape),
                    rows_text=rows_text(grid.shape),
                )
            )
            self.view.show_numbers(numbers, None, heat.matrix_scale(numbers), None)
            self._show_attention(page, None, None)
            return True
        slices = page.slice_at(array.shape)
        exact = as_matrix(array, slices)
        numbers = to_float64(exact)
        self._first, self._columns = page.offset(array.shape), exact.shape[1]
        place = divmod(page.element - self._first, self._columns) if self._columns else (-1, 0)
        inside = 0 <= place[0] < exact.shape[0]
        marked = inside and page.element > 0
        self._say(self._slice_note(array, slices))
        scale = heat.matrix_scale(to_float64(array))
        self.view.show_numbers(numbers, exact, scale, place if marked else None)
        self._show_attention(page, exact, place[0] if marked else None)
        return True

    def _show_attention(
        self, page: InspectorPage, weights: NDArray[np.generic] | None, row: int | None
    ) -> None:
        """Name rows and columns of attention weights and describe a row; else neither."""
        index, value = page.index, page.value
        self._is_attention = False
        if weights is not None and index is not None and value is not None:
            self._is_attention = attention.is_attention(index, value)
        self.looks.setVisible(self._is_attention and page.side == "value")
        if not self._is_attention or weights is None or index is None:
            self.view.show_names(None, None)
            return
        rows, columns = (attention.row_names(index, size) for size in weights.shape)
        self._names = rows[1], columns[1]
        self._row = weights.shape[0] - 1 if row is None else row
        if not self.looks.isHidden():
            # The head is chosen just above, the shape is among the facts.
            self._say(tr("each row looks at columns"))
            source = rows[0] or columns[0]
            self.looks.setToolTip(
                tip(tr("The names are from {source}", source=source) if source else "")
            )
        self._describe(-1)

    def _describe(self, hovered: int) -> None:
        """Describe the row under the mouse, or the chosen one."""
        exact = self.view.exact
        if exact is None or not self._is_attention:
            return
        row = hovered if 0 <= hovered < exact.shape[0] else min(self._row, exact.shape[0] - 1)
        said = "" if self.looks.isHidden() else attention.sentence(exact, row, self._names)
        self.sentence.say(said)
        named = (self._names[axis] or _numbered(exact.shape[axis]) for axis in (0, 1))
        self.view.show_names(AxisNames(*named), row, said)

    def _slice_note(self, array: NDArray[np.generic], slices: tuple[int, ...]) -> str:
        parts = []
        if slices:
            parts.append(f"slice [{', '.join(map(str, slices))}, :, :] of")
            parts.append(words.shape(array.shape))
        if np.iscomplexobj(array):
            parts.append(tr("(size of complex numbers)"))
        return " ".join(parts)

    def _say(self, text: str) -> None:
        self._note.say(text)
        self._note.setVisible(bool(text))

    def _pick(self, row: int, column: int) -> None:
        self.element_requested.emit(self._first + row * self._columns + column)


def _numbered(size: int) -> tuple[str, ...]:
    return tuple(map(str, range(size)))


def rows_text(shape: tuple[int, ...]) -> str:
    """Return ``8 rows by 16 columns``."""
    return tr(
        "{rows} by {columns}",
        rows=ngettext("{count:,} row", "{count:,} rows", shape[0]),
        columns=ngettext("{count:,} column", "{count:,} columns", shape[1]),
    )


ENTRY = HeatmapPane
