"""The cells of a tensor on a card of the lab: painted once, and copied from then on.

A mouse that moves over thousands of cells lights others each time; only those are painted anew.
"""

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap

from playback import text
from playback.lab.places import Cell
from widgets.lab.arrange import Card
from widgets.paint import heat
from widgets.panes.heatmap import short
from widgets.theme import Theme, contrast, faded, ui_font

NUMBERS_FROM = 24.0
"""Pixels of a cell from which its number is written into it."""


class CellSheets:
    """Pictures of the cells of every card, in full colour and faint."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, bool], QPixmap] = {}
        self._ratio = 0.0
        self.numbers = True
        """Whether the numbers are shown, and the colours that go with them."""

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
    ) -> None:
        """Draw a card's cells; ``lit`` and ``here`` have rings, ``faint``: all others step back."""
        ratio = painter.device().devicePixelRatioF()
        if ratio != self._ratio:
            self._ratio = ratio
            self.forget()
        key = (card.key, faint)
        if key not in self._kept:
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
            for index in range(array.size):
                box = card.cell(index)
                if box is None:
                    break
                ink.cell(index, box, faint)
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
        self._written = numbers and card.side >= NUMBERS_FROM
        painter.setFont(ui_font(10, 600))

    def wipe(self, box: QRectF) -> None:
        """Take away what is faint there."""
        self._painter.fillRect(box, self._theme.panel)

    def cell(self, index: int, box: QRectF, faint: bool) -> None:
        """Paint a cell, with its number where there is room."""
        painter = self._painter
        fill = self._theme.line
        if self._numbers:
            fill = heat.color(float(self._real[index]), self._scale, self._theme.dark)
        gap = 0.8 if box.width() > 9 else 0.3
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(faded(fill, 0.3 if self._numbers else 0.6) if faint else fill)
        painter.drawRoundedRect(box.adjusted(gap, gap, -gap, -gap), 3, 3)
        if self._written:
            self._number(box, self._flat[index].item(), fill, faint)

    def _number(self, box: QRectF, number: object, fill: QColor, faint: bool) -> None:
        if isinstance(number, bool):
            said = "T" if number else "F"
        elif isinstance(number, complex):
            said = text.number(number, 1)
        else:
            said = short(float(number))  # type: ignore[arg-type]
        if self._painter.fontMetrics().horizontalAdvance(said) > box.width() - 2:
            return
        theme = self._theme
        ink = max((theme.ink, theme.surface), key=lambda c: contrast(c, fill))
        self._painter.setPen(theme.ink2 if faint else ink)
        self._painter.drawText(box, Qt.AlignmentFlag.AlignCenter, said)

    def ring(self, box: QRectF, here: bool) -> None:
        """Put a ring around a cell that is lit, a darker one around the one looked at."""
        pen = QPen(self._theme.selection, 2.6 if here else 2.0)
        if here:
            pen.setColor(self._theme.ink)
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        self._painter.setPen(pen)
        self._painter.drawRoundedRect(box.adjusted(1.2, 1.2, -1.2, -1.2), 3, 3)


def at(cell: Cell | None, key: str) -> int | None:
    """Return the flat index of the cell looked at where it is on the card ``key``."""
    return cell.flat if cell is not None and cell.tensor == key else None
