"""The lab canvas: every tensor cell by cell; hovering a cell highlights the related cells."""

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QWidget

from gradscribe.engine.protocol.messages import Cells, Probed
from gradscribe.playback.lab import cells as lab_cells
from gradscribe.playback.lab.cells import Cell, CellLinks
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.theme import Theme, mono_font, ui_font
from gradscribe.widgets.lab.card_layout import GAP, TensorCard, arrange_cards
from gradscribe.widgets.lab.cells import CellPixmaps, index_on_card

MAX_HEIGHT = (1 << 24) - 2
"""Largest height that Qt accepts (pixels); an empty tensor may have more rows than that."""


class LabCanvas(QWidget):
    """Cards with cells: inputs, an equals sign, results."""

    description_changed = Signal(str)
    """A sentence about the current cell; empty without one."""
    cell_changed = Signal(object)
    """The current `Cell`, or None."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = Theme.load("light")
        self._probed = Probed(0)
        self._belongings = CellLinks(self._probed)
        self._tensors: list[tuple[str, Cells]] = []
        self.cards: list[TensorCard] = []
        self.cell: Cell | None = None
        self._lit: dict[str, set[int]] = {}
        self._sheets = CellPixmaps()
        self._update_timer = single_shot(self, self.update)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Tensors cell by cell"))

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours."""
        self.theme = theme
        self._sheets.forget()
        self.update()

    def show_numbers(self, shown: bool) -> None:
        """Show or hide the numbers in the cells."""
        self._sheets.numbers = shown
        self._sheets.forget()
        self.update()

    def show_probed(self, probed: Probed) -> None:
        """Show other tensors; the current cell stays if its tensor and index still exist."""
        self._probed = probed
        self._sheets.forget()
        self._belongings = CellLinks(probed)
        results = [
            (lab_cells.result_key(probed, i), cells) for i, cells in enumerate(probed.results)
        ]
        self._tensors = [*((cells.name, cells) for cells in probed.inputs), *results]
        self._arrange_cards()
        old = self.cell
        self.cell = None
        sizes = {key: cells.snapshot.numel for key, cells in self._tensors}
        self.look_at(old if old and old.flat < sizes.get(old.tensor, 0) else None)

    def _arrange_cards(self) -> None:
        placed = arrange_cards(
            self._tensors, len(self._probed.inputs), max(200.0, self.width() - 2)
        )
        if [(c.key, c.frame, c.side) for c in placed] != [
            (c.key, c.frame, c.side) for c in self.cards
        ]:
            self._sheets.forget()
        self.cards = placed
        bottom = max((card.frame.bottom() for card in self.cards), default=0.0)
        self.setMinimumHeight(min(round(bottom) + 2, MAX_HEIGHT))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size at which all cards fit."""
        return QSize(600, self.minimumHeight())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Arrange the cards again."""
        super().resizeEvent(event)
        self._arrange_cards()

    # Current cell

    def look_at(self, cell: Cell | None) -> None:
        """Make a cell current and highlight it with its related cells."""
        if cell == self.cell:
            return
        self.cell = cell
        self._lit = {}
        sentence = ""
        if cell is not None:
            others = self._belongings.of(cell)
            for other in others:
                self._lit.setdefault(other.tensor, set()).add(other.flat)
            sentence = self._sentence(cell, others)
        self.setAccessibleDescription(sentence)
        self.description_changed.emit(sentence)
        self.cell_changed.emit(cell)
        self.update()

    def _sentence(self, cell: Cell, others: tuple[Cell, ...]) -> str:
        shapes = {key: cells.snapshot.shape for key, cells in self._tensors}
        number = self._number(cell) if self._sheets.numbers else ""
        value = f" = {number}" if number else ""
        if not self._probed.links:
            return (
                lab_cells.cells_text(cell.tensor.strip(), [cell.flat], shapes[cell.tensor]) + value
            )
        ahead = any(cell.tensor == cells.name for cells in self._probed.inputs)
        sentence = lab_cells.sentence(cell, others, shapes, ahead)
        here, space, rest = sentence.partition(" reaches" if ahead else " comes")
        return f"{here}{value}{space}{rest}"

    def _number(self, cell: Cell) -> str:
        for key, cells in self._tensors:
            array = cells.snapshot.array() if key == cell.tensor else None
            if array is not None:
                return formatting.number(array.reshape(-1)[cell.flat].item())
        return ""

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Make the cell under the mouse current."""
        self.look_at(self._cell_at(event.position()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Make the pressed cell current, for touch screens without hover."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.look_at(self._cell_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        """Clear the current cell."""
        super().leaveEvent(event)
        self.look_at(None)

    def _cell_at(self, point: QPointF) -> Cell | None:
        for card in self.cards:
            index = card.at(point)
            if index is not None:
                return Cell(card.key, index)
        return None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move over the cells with the arrows, from card to card with Page up and Page down."""
        steps = {
            Qt.Key.Key_Left: (0, -1),
            Qt.Key.Key_Right: (0, 1),
            Qt.Key.Key_Up: (-1, 0),
            Qt.Key.Key_Down: (1, 0),
        }
        key = Qt.Key(event.key())
        if key in steps and self.cards:
            self._move_cell(*steps[key])
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown) and self.cards:
            self._move_card(1 if key == Qt.Key.Key_PageDown else -1)
        else:
            super().keyPressEvent(event)

    def _card(self) -> TensorCard:
        key = self.cell.tensor if self.cell else self.cards[-1].key
        return next((card for card in self.cards if card.key == key), self.cards[-1])

    def _move_cell(self, down: int, across: int) -> None:
        card = self._card()
        if self.cell is None or not card.cells.snapshot.numel:
            self._look_at_first(card)
            return
        index = self.cell.flat + down * card.grid.columns + across
        if 0 <= index < card.cells.snapshot.numel:
            self.look_at(Cell(card.key, index))

    def _move_card(self, step: int) -> None:
        at = self.cards.index(self._card()) + (step if self.cell else 0)
        self._look_at_first(self.cards[at % len(self.cards)])

    def _look_at_first(self, card: TensorCard) -> None:
        if card.cells.snapshot.numel:
            self.look_at(Cell(card.key, 0))

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the cards and the sign between inputs and results."""
        self._sheets.begin()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for card in self.cards:
                if event.rect().intersects(card.frame.toAlignedRect()):
                    self._paint_card(painter, card)
            self._paint_equals(painter)

    def _paint_equals(self, painter: QPainter) -> None:
        first = len(self._probed.inputs)
        if not 0 < first < len(self.cards):
            return
        before, after = self.cards[first - 1].frame, self.cards[first].frame
        painter.setPen(self.theme.ink2)
        painter.setFont(ui_font(17, 600))
        if before.top() == after.top():
            box = QRectF(before.right(), before.top(), GAP, min(before.height(), after.height()))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, "=")

    def _paint_card(self, painter: QPainter, card: TensorCard) -> None:
        theme = self.theme
        is_result = card.cells in self._probed.results
        painter.setPen(QPen(theme.forward if is_result else theme.line, 1.4 if is_result else 1.0))
        painter.setBrush(theme.panel)
        painter.drawRoundedRect(card.frame.adjusted(1, 1, -1, -1), 9, 9)
        self._paint_head(painter, card)
        if card.grid.slices > 1:
            self._paint_slices(painter, card)
        array = card.cells.snapshot.array()
        if array is None or not array.size:
            painter.setPen(theme.ink2)
            painter.setFont(ui_font(11))
            note = "empty" if array is not None else tr("too big to show cell by cell")
            painter.drawText(card.frame.adjusted(14, 44, -8, 0), note)
            return
        self._paint_cells(painter, card, array)

    def _paint_head(self, painter: QPainter, card: TensorCard) -> None:
        theme, cells = self.theme, card.cells
        box = card.frame.adjusted(14, 8, -10, 0)
        painter.setFont(ui_font(13, 650))
        painter.setPen(theme.ink)
        metrics = QFontMetricsF(painter.font())
        name = metrics.elidedText(card.key.strip(), Qt.TextElideMode.ElideMiddle, box.width() * 0.6)
        painter.drawText(box, name)
        name_width = metrics.horizontalAdvance(name) + 8
        painter.setFont(mono_font(11))
        painter.setPen(theme.ink2)
        painter.drawText(
            box.adjusted(name_width, 1.5, 0, 0), formatting.shape(cells.snapshot.shape)
        )
        painter.setFont(ui_font(11))
        small = QFontMetricsF(painter.font())
        line = small.elidedText(
            lab_cells.tensor_facts(cells), Qt.TextElideMode.ElideRight, box.width()
        )
        painter.drawText(box.adjusted(0, 18, 0, 0), line)

    def _paint_slices(self, painter: QPainter, card: TensorCard) -> None:
        painter.setFont(mono_font(10))
        painter.setPen(self.theme.ink2)
        leading = card.cells.snapshot.shape[:-2]
        for number in range(card.grid.slices):
            corner = card.slice_at(number)
            where = ", ".join(map(str, lab_cells.unravel_index(number, leading)))
            painter.drawText(corner + QPointF(0, -5), f"[{where}]")
        if not card.grid.whole:
            painter.drawText(card.frame.adjusted(0, 0, -4, -4), Qt.AlignmentFlag.AlignRight, "…")

    def _paint_cells(self, painter: QPainter, card: TensorCard, array: np.ndarray) -> None:
        lit = self._lit.get(card.key, set())
        faint = self.cell is not None and bool(self._lit)
        here = index_on_card(self.cell, card.key)
        if not self._sheets.draw(painter, card, array, self.theme, lit, here, faint):
            self._update_timer.start(0)
