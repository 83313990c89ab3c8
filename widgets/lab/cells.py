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
        for index in sorted(lit if here is None else {*lit, here}):
            box = card.cell(index)
            if box is not None:
                if faint:
                    ink.wipe(box)
                    ink.cell(index, box, faint=False)
                ink.ring(box, index == here)
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
        self._real = np.abs(self._flat) if is_complex else self._flat.astype(np.float64)
        sizes = np.abs(self._real[np.isfinite(self._real)])
        self._scale = float(sizes.max()) if sizes.size else 0.0
        self._side = card.side
        self._written = numbers and card.side >= NUMBERS_FROM
        painter.setFont(ui_font(10, 600))

    def wipe(self, box: QRectF) -> None:
        """Take away what is faint there."""
        self._painter.fillRect(box, self._theme.panel)

    def cells(self, boxes: Sequence[QRectF], faint: bool) -> None:
        """Paint all cells: first their colours, then their numbers, each with one pen for all."""
        fills = self._fills(self._real[: len(boxes)])
        self._color(fills, boxes, faint)
        if self._written:
            self._number(range(len(boxes)), fills, boxes, faint)

    def cell(self, index: int, box: QRectF, faint: bool) -> None:
        """Paint a cell, with its number where there is room."""
        fills = self._fills(self._real[index : index + 1])
        self._color(fills, [box], faint)
        if self._written:
            self._number([index], fills, [box], faint)

    def _fills(self, numbers: NDArray[np.float64]) -> list[QColor]:
        if not self._numbers:
            return [self._theme.line] * numbers.size
        return heat.colors(numbers, self._scale, self._theme.dark)

    def _color(self, fills: Sequence[QColor], boxes: Sequence[QRectF], faint: bool) -> None:
        painter = self._painter
        opacity, gap = 0.3 if self._numbers else 0.6, 0.8 if self._side > 9 else 0.3
        painter.setPen(Qt.PenStyle.NoPen)
        for fill, box in zip(fills, boxes, strict=True):
            painter.setBrush(faded(fill, opacity) if faint else fill)
            painter.drawRoundedRect(box.adjusted(gap, gap, -gap, -gap), 3, 3)

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

    def ring(self, box: QRectF, here: bool) -> None:
        """Put a ring around a cell that is lit, a darker one around the one looked at."""
        pen = QPen(self._theme.selection, 2.6 if here else 2.0)
        if here:
            pen.setColor(self._theme.ink)
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        self._painter.setPen(pen)
        self._painter.drawRoundedRect(box.adjusted(1.2, 1.2, -1.2, -1.2), 3, 3)


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
