"""Names of modules at a far zoom, as on a map: the outermost first, each where it covers nothing.

Nearer, frames have their name plates and folded modules write their names themselves.
"""

from collections.abc import Iterator
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint import frames, shapes
from gradscribe.widgets.graph.paint.stage import Stage

PX, HEIGHT, PAD, GAP = 10.0, 13.0, 3.0, 3.0
"""On the screen: size of the letters, height of a name, space around it, gap to what it names."""
MAX_WIDTH = 150.0
LEAST_FRAME = 15.0
"""Least height on the screen of a frame that is named."""
LEAST_CARD, LEAST_OUTER_CARD = 9.0, 3.0
"""Least heights on the screen of a folded module that is named: inside of others, and outermost."""
MAX_NAMES = 250
"""Most names in a picture."""
_CELL = 160.0


class FarName(NamedTuple):
    """The name of a frame or card at a zoom, in scene units."""

    key: str
    text: str
    box: QRectF


class FarNames:
    """The names of a stage's modules at the last zoom that was asked for."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._zoom, self._with_cards = 0.0, False
        self._found: list[FarName] = []

    def at(self, zoom: float, with_cards: bool) -> list[FarName]:
        """Return the names at a zoom; ``with_cards``: of folded modules as well as of frames."""
        if (zoom, with_cards) != (self._zoom, self._with_cards):
            self._zoom, self._with_cards = zoom, with_cards
            taken = _Taken(zoom)
            self._found = []
            for key, text, spots in self._wanted():
                box = self._free(spots, taken, key)
                if box is not None:
                    taken.add(box)
                    self._found.append(FarName(key, text, box))
                if len(self._found) >= MAX_NAMES:
                    break
        return self._found

    def _wanted(self) -> Iterator[tuple[str, str, list[QRectF]]]:
        """Yield key, text and possible boxes of each name, the outermost first."""
        stage, zoom = self._stage, self._zoom
        rows: list[tuple[int, bool, str]] = []
        for key in stage.frame_order:
            big = stage.frame_boxes[key].height() * zoom >= LEAST_FRAME
            if big and not frames.is_legible(zoom, stage.head_room[key]):
                rows.append((stage.depths[key], False, key))
        for key, card in stage.cards.items() if self._with_cards else ():
            if card.kind != "module":
                continue
            depth = stage.depths.get(card.frame, -1) + 1
            least = LEAST_OUTER_CARD if depth <= 1 else LEAST_CARD
            if stage.boxes[key].height() * zoom >= least:
                rows.append((depth, True, key))
        for _, is_card, key in sorted(rows, key=lambda row: row[:2]):
            if is_card:
                yield key, *self._of_card(key)
            else:
                yield key, *self._of_frame(key)

    def _of_frame(self, key: str) -> tuple[str, list[QRectF]]:
        frame, box = self._stage.frames[key], self._stage.frame_boxes[key]
        repeated = frame.repeats > 1 and frame.call is not None
        name = f"{frame.title} ×{frame.repeats}" if repeated else frame.title
        text, size = self._sized(name)
        unit = 1 / self._zoom
        left, top, right = box.left() + unit, box.top() + unit, box.right() - size.width() - unit
        places = [(left, top), (right, top)] if size.width() + 2 * unit <= box.width() else []
        outside = [
            (box.right() + GAP * unit, top),
            (box.left() - GAP * unit - size.width(), top),
        ]
        return text, [size.translated(x, y) for x, y in places + outside]

    def _of_card(self, key: str) -> tuple[str, list[QRectF]]:
        card, box = self._stage.cards[key], self._stage.boxes[key]
        name = f"{card.title} ×{card.repeats}" if card.repeats > 1 else card.title
        text, size = self._sized(name)
        y, gap = box.center().y() - size.height() / 2, GAP / self._zoom
        places = [(box.right() + gap, y), (box.left() - gap - size.width(), y)]
        return text, [size.translated(x, y) for x, y in places]

    def _sized(self, name: str) -> tuple[str, QRectF]:
        text = shapes.elided(name, MAX_WIDTH, PX, 600)
        width = shapes.text_width(text, PX, 600) + 2 * PAD
        return text, QRectF(0, 0, width / self._zoom, HEIGHT / self._zoom)

    def _free(self, spots: list[QRectF], taken: "_Taken", key: str) -> QRectF | None:
        """Return the first place that covers neither a card nor a name."""
        for box in spots:
            covered = [other for other in self._stage.cards_in(box, 0.0) if other != key]
            if not covered and taken.is_free(box):
                return box
        return None

    def paint(
        self, painter: QPainter, areas: list[QRectF], zoom: float, with_cards: bool, theme: Theme
    ) -> None:
        """Paint the names that touch some areas."""
        for name in self.at(zoom, with_cards):
            if not any(name.box.intersects(area) for area in areas):
                continue
            painter.save()
            painter.translate(name.box.topLeft())
            painter.scale(1 / zoom, 1 / zoom)
            whole = QRectF(QPointF(), name.box.size() * zoom)
            # On a ground of its own it does not grow bolder when it is painted again.
            shapes.fill(painter, whole, 3, theme.canvas)
            row = whole.adjusted(PAD, 0, 1, 0)
            shapes.write(painter, row, name.text, theme.ink, PX, 600)
            painter.restore()


class _Taken:
    """The places of names, by cells of a grid."""

    def __init__(self, zoom: float) -> None:
        self._side = _CELL / zoom
        self._cells: dict[tuple[int, int], list[QRectF]] = {}

    def is_free(self, box: QRectF) -> bool:
        """Return whether a box meets no place."""
        return not any(
            other.intersects(box)
            for cell in self._touched(box)
            for other in self._cells.get(cell, ())
        )

    def add(self, box: QRectF) -> None:
        """Take a place."""
        for cell in self._touched(box):
            self._cells.setdefault(cell, []).append(box)

    def _touched(self, box: QRectF) -> Iterator[tuple[int, int]]:
        side = self._side
        for column in range(int(box.left() // side), int(box.right() // side) + 1):
            for row in range(int(box.top() // side), int(box.bottom() // side) + 1):
                yield column, row
