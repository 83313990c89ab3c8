"""Animation between positions: tokens on wires, numbers wiped in, bubbles popping."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from gradscribe.playback.graph.picture import CardLook, Look
from gradscribe.widgets.graph.paint.card import cards
from gradscribe.widgets.graph.paint.card.cards import LABEL_ZOOM, CardStyle
from gradscribe.widgets.graph.paint.drawing import GraphDrawing, detail_at
from gradscribe.widgets.graph.paint.wire import stretch, tokens

ARRIVAL = 0.7
"""Share of a motion in which tokens run; then what they bring appears."""
SETTLE_MS = 160
"""Time after a motion in which tokens come back to rest in the middle of their wires."""
REST = 0.5
MAX_TOKENS = 400
"""Largest number of tokens drawn at once."""
MAX_STRETCHES = 4
"""Largest number of broadcast operands drawn at once."""
LEGIBLE, MOST_SCALE = 0.9, 1.7
"""Zoom below which what is broadcast is drawn larger, and how much at most."""
REACH = 200.0
"""Distance from a wire up to which what is broadcast makes way for cards."""
MAX_CARDS = 16
"""Largest number of cards animated at once; if more change, none is animated."""


class Motion:
    """Motion of one step; ``share`` runs from 0 to 1 and then, while settling, on to 2."""

    def __init__(self, drawing: GraphDrawing, old: Look, duration_ms: int) -> None:
        self.duration_ms = duration_ms
        self._drawing = drawing
        self.running = active_wires(drawing)
        self._stretched = [
            (key, backward)
            for key, backward in self.running
            if drawing.stage.wires[key].broadcast is not None
        ][:MAX_STRETCHES]
        self._stretch_boxes: tuple[float, list[QRectF]] | None = None
        """The scale for which the boxes of what is broadcast were placed, and the boxes."""
        changed = drawing.changed_cards(old) if duration_ms else []
        self.old: dict[str, CardLook | None] = {
            key: old.cards.get(key) for key in changed if len(changed) <= MAX_CARDS
        }

    def share(self, elapsed_ms: float) -> float:
        """Return the motion's progress after some time; without a duration it is over at once."""
        if self.duration_ms <= 0:
            return 2.0
        if elapsed_ms < self.duration_ms:
            return elapsed_ms / self.duration_ms
        return min(2.0, 1.0 + (elapsed_ms - self.duration_ms) / SETTLE_MS)

    def paint(self, painter: QPainter, area: QRectF, zoom: float, share: float) -> None:
        """Paint everything that moves within ``area`` (scene units); the painter is in them."""
        # At a far zoom cards are plain, and change at once.
        if share < 1 and detail_at(zoom) == "full":
            for key, old in self.old.items():
                if self._drawing.card_area(key).intersects(area):
                    self._paint_card(painter, key, old, zoom, share)
        self._paint_stretches(painter, area, zoom, share)
        self._paint_tokens(painter, area, share)

    def _paint_stretches(self, painter: QPainter, area: QRectF, zoom: float, share: float) -> None:
        """Paint the operands that are broadcast, and their gradients that are summed."""
        if zoom < LABEL_ZOOM or not self._stretched:
            return
        scale, drawing = max(1.0, min(MOST_SCALE, LEGIBLE / zoom)), self._drawing
        if self._stretch_boxes is None or self._stretch_boxes[0] != scale:
            self._stretch_boxes = scale, self._place_stretches(area, scale)
        part = min(1.0, share / ARRIVAL)
        for (key, backward), box in zip(self._stretched, self._stretch_boxes[1], strict=True):
            broadcast = drawing.stage.wires[key].broadcast
            if broadcast is not None:
                text = self._stretch_words(broadcast, backward)
                stretch.paint(painter, box, broadcast, backward, part, drawing.theme, text)

    def _place_stretches(self, area: QRectF, scale: float) -> list[QRectF]:
        """Return the boxes of what is broadcast, where they cover little."""
        stage, placed = self._drawing.stage, list[QRectF]()
        labels = [label.box for label in self._drawing.tiles.placed().values()]
        for key, backward in self._stretched:
            broadcast = stage.wires[key].broadcast
            if broadcast is None:
                continue
            width, height = stretch.size(broadcast, self._stretch_words(broadcast, backward))
            around = stage.wire_area(key).adjusted(-REACH, -REACH, REACH, REACH)
            cards_near = [stage.boxes[card] for card in stage.cards_in(around, 0.0)]
            size = width * scale, height * scale
            taken = [*cards_near, *labels, *placed]
            placed.append(stretch.place(stage.track(key), size, taken, area))
        return placed

    def _stretch_words(self, broadcast: stretch.Broadcast, backward: bool) -> str:
        return stretch.words(broadcast, backward) if self._drawing.layers.shapes else ""

    def _paint_tokens(self, painter: QPainter, area: QRectF, share: float) -> None:
        drawing = self._drawing
        way, opacity = tokens.ease(share / ARRIVAL), 1.0
        if share >= 1:
            way, opacity = REST, share - 1
        elif share > ARRIVAL:
            opacity = max(0.0, 1 - (share - ARRIVAL) * 6)
        if opacity <= 0:
            return
        for key, backward in self.running[:MAX_TOKENS]:
            if drawing.stage.wire_area(key).intersects(area):
                track = drawing.stage.track(key)
                tokens.draw(painter, track, way, backward, drawing.theme, opacity)

    def _paint_card(
        self, painter: QPainter, key: str, old: CardLook | None, zoom: float, share: float
    ) -> None:
        drawing = self._drawing
        card, box = drawing.stage.cards[key], drawing.stage.boxes[key]
        begin = ARRIVAL if self.running else 0.0
        if share < begin:
            before = drawing.stage.reader.card(card, old)
            drawing.draw_full(painter, key, before, (key, old, "full"), zoom)
            return
        new = drawing.reading(key)
        part = (share - begin) / (1 - begin)
        had = bool(drawing.stage.reader.card(card, old).gradient)
        was_reached = old is not None and old.reached
        pop = 1.0 if had else tokens.ease_out_back(part)
        style = CardStyle(drawing.theme, drawing.layers, 1.0 if was_reached else part, pop)
        cards.paint(painter, card, box, new, style)


def active_wires(drawing: GraphDrawing) -> list[tuple[str, bool]]:
    """Return the active wires, each with whether a gradient runs along it."""
    gradients = drawing.layers.gradients
    return [
        (key, look.active == "backward")
        for key, look in drawing.look.wires.items()
        if look.active and key in drawing.stage.wires and (gradients or look.active == "forward")
    ]
