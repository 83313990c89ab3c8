"""The cells of a tensor on a card of the lab: painted once, and copied from then on.

A mouse that moves over thousands of cells lights others each time; only those are painted anew.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap

from playback import text
from playback.lab.places import Cell
from widgets.lab.arrange import Card
from widgets.paint import heat
from widgets.panes.heatmap import short
from widgets.theme import Theme, contrast, faded, ui_font

AT_ONCE = 2_000
"""When so many cells were painted in one go, those of another card have a turn of their own."""
SMALL = 9.0
"""Pixels of a cell up to which it is a plain rectangle."""
NUMBERS_FROM = 24.0
"""Pixels of a cell from which its number is written into it."""


class CellSheets:
    """Pictures of the cells of every card, in full colour and faint."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, bool], QPixmap] = {}
        self._ratio = 0.0
        self._painted = 0
        self.numbers = True
        """Whether the numbers are shown, and the colours that go with them."""

    def begin(self) -> None:
        """Begin another go."""
        self._painted = 0

    def forget(self) -> None:
        """Paint all anew the next time: other cards, another theme."""
        self._kept.clear()

    def draw(
        self,
        painter: QPainter,
        card: Card,
        array: np.ndarray,
        theme: Theme,
        lit: set[int],
        here: int | None,
        faint: bool,
    ) -> bool:
        """Draw a card's cells; ``lit`` and ``here`` have rings, ``faint``: all others step back.

        Return whether they were drawn; where not, it takes another go.
        """
        ratio = painter.device().devicePixelRatioF()
        if ratio != self._ratio:
            self._ratio = ratio
            self.forget()
        key = (card.key, faint)
        if key not in self._kept:
            if self._painted >= AT_ONCE:
                return False
            self._painted += array.size
            self._kept[key] = self._sheet(card, array, theme, faint, ratio)
        painter.drawPixmap(card.frame.topLeft(), self._kept[key])
        ink = _Ink(painter, card, array, theme, self.numbers)
        chosen = sorted(lit if here is None else {*lit, here})
        shown = [(index, box) for index in chosen if (box := card.cell(index)) is not None]
        ink.some(shown, here, faint)
        return True

    def _sheet(
        self, card: Card, array: np.ndarray, theme: Theme, faint: bool, ratio: float
    ) -> QPixmap:
        sheet = QPixmap((card.frame.size() * ratio).toSize())
        sheet.setDevicePixelRatio(ratio)
        sheet.fill(Qt.GlobalColor.transparent)
        painter = QPainter(sheet)
        try:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.translate(-card.frame.topLeft())
            ink = _Ink(painter, card, array, theme, self.numbers)
            ink.cells(card.boxes(), faint)
        finally:
            painter.end()
        return sheet


class _Ink:
    """Paints single cells of one card."""

    def __init__(
        self, painter: QPainter, card: Card, array: np.ndarray, theme: Theme, numbers: bool
    ) -> None:
        self._painter, self._theme, self._numbers = painter, theme, numbers
        self._flat = array.reshape(-1)
        is_complex = np.iscomplexobj(self._flat)
        with np.errstate(invalid="ignore", over="ignore"):
            self._real = np.abs(self._flat) if is_complex else self._flat.astype(np.float64)
        sizes = np.abs(self._real[np.isfinite(self._real)])
        self._scale = float(sizes.max()) if sizes.size else 0.0
        self._side = card.side
        self._written = numbers and card.side >= NUMBERS_FROM
        painter.setFont(ui_font(10, 600))

    def cells(self, boxes: Sequence[QRectF], faint: bool) -> None:
        """Paint all cells: first their colours, then their numbers, each with one pen for all."""
        fills = self._fills(self._real[: len(boxes)])
        self._color(fills, boxes, faint)
        if self._written:
            self._number(range(len(boxes)), fills, boxes, faint)

    def some(self, shown: Sequence[tuple[int, QRectF]], here: int | None, faint: bool) -> None:
        """Paint cells by their index and place, with rings; in full colour where all are faint."""
        indices, boxes = [index for index, _ in shown], [box for _, box in shown]
        if faint:
            for box in boxes:
                self._painter.fillRect(box, self._theme.panel)
            fills = self._fills(self._real[indices])
            self._color(fills, boxes, faint=False)
            if self._written:
                self._number(indices, fills, boxes, faint=False)
        self._rings([box for index, box in shown if index != here], here=False)
        self._rings([box for index, box in shown if index == here], here=True)

    def _fills(self, numbers: NDArray[np.float64]) -> list[QColor]:
        if not self._numbers:
            return [self._theme.line] * numbers.size
        return heat.colors(numbers, self._scale, self._theme.dark)

    def _color(self, fills: Sequence[QColor], boxes: Sequence[QRectF], faint: bool) -> None:
        opacity = 0.3 if self._numbers else 0.6
        if faint:
            fills = [faded(fill, opacity) for fill in fills]
        fill_cells(self._painter, fills, boxes, self._side)

    def _number(
        self,
        indices: Iterable[int],
        fills: Sequence[QColor],
        boxes: Sequence[QRectF],
        faint: bool,
    ) -> None:
        """Write numbers where there is room for them."""
        painter, theme, metrics = self._painter, self._theme, self._painter.fontMetrics()
        for index, fill, box in zip(indices, fills, boxes, strict=True):
            said = _said(self._flat[index].item())
            if metrics.horizontalAdvance(said) <= box.width() - 2:
                painter.setPen(theme.ink2 if faint else _ink_on(fill.rgb(), theme))
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, said)

    def _rings(self, boxes: Sequence[QRectF], here: bool) -> None:
        """Put a ring around cells that are lit, a darker one around the one looked at."""
        pen = QPen(self._theme.selection, 2.6 if here else 2.0)
        if here:
            pen.setColor(self._theme.ink)
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        self._painter.setPen(pen)
        inside = [box.adjusted(1.2, 1.2, -1.2, -1.2) for box in boxes]
        if self._side <= SMALL:
            self._painter.drawRects(inside)
            return
        for box in inside:
            self._painter.drawRoundedRect(box, 3, 3)


def fill_cells(
    painter: QPainter, fills: Sequence[QColor], boxes: Sequence[QRectF], side: float
) -> None:
    """Paint cells without what is written into them; on small ones nobody sees round corners."""
    if side <= SMALL:
        # What lies between two pixels costs most where there are many cells.
        for fill, box in zip(fills, boxes, strict=True):
            left, top = round(box.left()), round(box.top())
            wide, high = round(box.right()) - left, round(box.bottom()) - top
            painter.fillRect(left, top, wide - (wide > 3), high - (high > 3), fill)
        return
    painter.setPen(Qt.PenStyle.NoPen)
    for fill, box in zip(fills, boxes, strict=True):
        painter.setBrush(fill)
        painter.drawRoundedRect(box.adjusted(0.8, 0.8, -0.8, -0.8), 3, 3)


def _said(number: object) -> str:
    if isinstance(number, bool):
        return "T" if number else "F"
    if isinstance(number, complex):
        return text.number(number, 1)
    return short(float(number))  # type: ignore[arg-type]


@lru_cache(maxsize=1024)
def _ink_on(fill: int, theme: Theme) -> QColor:
    """Return the ink that is read best on a colour."""
    return max((theme.ink, theme.surface), key=lambda color: contrast(color, QColor(fill)))


def at(cell: Cell | None, key: str) -> int | None:
    """Return the flat index of the cell looked at where it is on the card ``key``."""
    return cell.flat if cell is not None and cell.tensor == key else None
