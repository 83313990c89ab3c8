"""Cached painting of the cells of a lab card.

Moving the mouse over thousands of cells changes the highlight each time; only highlighted cells
are painted again, over a cached pixmap.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QPixmap

from gradscribe.playback.lab.cells import Cell
from gradscribe.playback.text import formatting
from gradscribe.playback.text.formatting import fitting_number
from gradscribe.widgets.base.theme import Theme, contrast, faded, ui_font
from gradscribe.widgets.graph.paint import heat
from gradscribe.widgets.lab.card_layout import TensorCard

CELLS_PER_PAINT = 2_000
"""Cells painted in one paint event from which the other cards wait for the next event."""
PLAIN_UP_TO = 9.0
"""Largest cell size in pixels at which a cell is drawn as a plain rectangle."""
NUMBERS_FROM = 24.0
"""Smallest cell size in pixels at which numbers are drawn into the cells."""


class CellPixmaps:
    """Pixmap cache of the cells of every card, in full colour and dimmed."""

    def __init__(self) -> None:
        self._sheets: dict[tuple[str, bool], QPixmap] = {}
        self._ratio = 0.0
        self._painted_count = 0
        self.numbers = True
        """True if numbers and their colours are shown."""

    def begin(self) -> None:
        """Reset the budget for a new paint event."""
        self._painted_count = 0

    def forget(self) -> None:
        """Clear the cache, for other cards or another theme."""
        self._sheets.clear()

    def draw(
        self,
        painter: QPainter,
        card: TensorCard,
        array: np.ndarray,
        theme: Theme,
        lit: set[int],
        here: int | None,
        faint: bool,
    ) -> bool:
        """Draw a card's cells, with rings around ``lit`` and ``here``; ``faint`` dims all others.

        Return False if the budget of this paint event is used up; the caller has to update again.
        """
        ratio = painter.device().devicePixelRatioF()
        if ratio != self._ratio:
            self._ratio = ratio
            self.forget()
        key = (card.key, faint)
        if key not in self._sheets:
            if self._painted_count >= CELLS_PER_PAINT:
                return False
            self._painted_count += array.size
            self._sheets[key] = self._painted_cells(card, array, theme, faint, ratio)
        painter.drawPixmap(card.frame.topLeft(), self._sheets[key])
        ink = _CellPainter(painter, card, array, theme, self.numbers)
        chosen = sorted(lit if here is None else {*lit, here})
        shown = [(index, box) for index in chosen if (box := card.cell(index)) is not None]
        ink.some(shown, here, faint)
        return True

    def _painted_cells(
        self, card: TensorCard, array: np.ndarray, theme: Theme, faint: bool, ratio: float
    ) -> QPixmap:
        sheet = QPixmap((card.frame.size() * ratio).toSize())
        sheet.setDevicePixelRatio(ratio)
        sheet.fill(Qt.GlobalColor.transparent)
        with QPainter(sheet) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.translate(-card.frame.topLeft())
            ink = _CellPainter(painter, card, array, theme, self.numbers)
            ink.cells(card.boxes(), faint)
        return sheet


class _CellPainter:
    """Painter for the cells of one card."""

    def __init__(
        self, painter: QPainter, card: TensorCard, array: np.ndarray, theme: Theme, numbers: bool
    ) -> None:
        self._painter, self._theme, self._numbers = painter, theme, numbers
        self._flat = array.reshape(-1)
        is_complex = np.iscomplexobj(self._flat)
        with np.errstate(invalid="ignore", over="ignore"):
            self._real = np.abs(self._flat) if is_complex else self._flat.astype(np.float64)
        sizes = np.abs(self._real[np.isfinite(self._real)])
        self._scale = float(sizes.max()) if sizes.size else 0.0
        self._side = card.side
        self._shows_text = numbers and card.side >= NUMBERS_FROM
        painter.setFont(ui_font(10, 600))

    def cells(self, boxes: Sequence[QRectF], faint: bool) -> None:
        """Paint all cells: first all colours, then all numbers, to change the pen less often."""
        fills = self._fills(self._real[: len(boxes)])
        self._paint_fills(fills, boxes, faint)
        if self._shows_text:
            self._paint_numbers(range(len(boxes)), fills, boxes, faint)

    def some(self, shown: Sequence[tuple[int, QRectF]], here: int | None, faint: bool) -> None:
        """Paint (index, box) pairs with rings; in full colour where the others are dimmed."""
        indices, boxes = [index for index, _ in shown], [box for _, box in shown]
        if faint:
            for box in boxes:
                self._painter.fillRect(box, self._theme.panel)
            fills = self._fills(self._real[indices])
            self._paint_fills(fills, boxes, faint=False)
            if self._shows_text:
                self._paint_numbers(indices, fills, boxes, faint=False)
        self._paint_rings([box for index, box in shown if index != here], here=False)
        self._paint_rings([box for index, box in shown if index == here], here=True)

    def _fills(self, numbers: NDArray[np.float64]) -> list[QColor]:
        if not self._numbers:
            return [self._theme.line] * numbers.size
        return heat.colors(numbers, self._scale, self._theme.dark)

    def _paint_fills(self, fills: Sequence[QColor], boxes: Sequence[QRectF], faint: bool) -> None:
        opacity = 0.3 if self._numbers else 0.6
        if faint:
            fills = [faded(fill, opacity) for fill in fills]
        fill_cells(self._painter, fills, boxes, self._side)

    def _paint_numbers(
        self, indices: Iterable[int], fills: Sequence[QColor], boxes: Sequence[QRectF], faint: bool
    ) -> None:
        """Write numbers into the cells that are wide enough."""
        painter, theme, metrics = self._painter, self._theme, self._painter.fontMetrics()
        for index, fill, box in zip(indices, fills, boxes, strict=True):
            fits = partial(fits_into, metrics, box.width() - 2)
            label = _number_text(self._flat[index].item(), fits)
            if label:
                painter.setPen(theme.ink2 if faint else _ink_on(fill.rgb(), theme))
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, label)

    def _paint_rings(self, boxes: Sequence[QRectF], here: bool) -> None:
        """Draw a ring around highlighted cells, a darker one around the current cell."""
        pen = QPen(self._theme.selection, 2.6 if here else 2.0)
        if here:
            pen.setColor(self._theme.ink)
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        self._painter.setPen(pen)
        inside = [box.adjusted(1.2, 1.2, -1.2, -1.2) for box in boxes]
        if self._side <= PLAIN_UP_TO:
            self._painter.drawRects(inside)
            return
        for box in inside:
            self._painter.drawRoundedRect(box, 3, 3)


def fill_cells(
    painter: QPainter, fills: Sequence[QColor], boxes: Sequence[QRectF], side: float
) -> None:
    """Paint the backgrounds of cells; small ones without round corners, which would not show."""
    if side <= PLAIN_UP_TO:
        # Antialiased edges are slow for many cells, so align them to pixels.
        for fill, box in zip(fills, boxes, strict=True):
            left, top = round(box.left()), round(box.top())
            wide, high = round(box.right()) - left, round(box.bottom()) - top
            painter.fillRect(left, top, wide - (wide > 3), high - (high > 3), fill)
        return
    painter.setPen(Qt.PenStyle.NoPen)
    for fill, box in zip(fills, boxes, strict=True):
        painter.setBrush(fill)
        painter.drawRoundedRect(box.adjusted(0.8, 0.8, -0.8, -0.8), 3, 3)


def fits_into(metrics: QFontMetrics, room: float, text: str) -> bool:
    """Return whether a text is at most ``room`` pixels wide."""
    return metrics.horizontalAdvance(text) <= room


def _number_text(number: object, fits: Callable[[str], bool]) -> str:
    """Return a number in the few characters that fit into a cell; empty if none do."""
    if isinstance(number, bool | complex):
        text = formatting.number(number, 1) if isinstance(number, complex) else "FT"[number]
        return text if fits(text) else ""
    return fitting_number(float(number), fits)  # type: ignore[arg-type]


@lru_cache(maxsize=1024)
def _ink_on(fill: int, theme: Theme) -> QColor:
    """Return the text colour with the better contrast on a fill."""
    return max((theme.ink, theme.surface), key=lambda color: contrast(color, QColor(fill)))


def index_on_card(cell: Cell | None, key: str) -> int | None:
    """Return the flat index of ``cell`` if it is on the card ``key``, else None."""
    return cell.flat if cell is not None and cell.tensor == key else None
