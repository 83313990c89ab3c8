"""Animation between positions: tokens on wires, numbers wiped in, bubbles popping."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from gradscribe.playback.graph.picture import CardLook, Look
from gradscribe.widgets.graph.paint.card import cards
from gradscribe.widgets.graph.paint.card.cards import CardStyle
from gradscribe.widgets.graph.paint.drawing import GraphDrawing, detail_at
from gradscribe.widgets.graph.paint.wire import tokens

ARRIVAL = 0.7
"""Share of a motion in which tokens run; then what they bring appears."""
SETTLE_MS = 160
"""Time after a motion in which tokens come back to rest in the middle of their wires."""
REST = 0.5
MAX_TOKENS = 400
"""Largest number of tokens drawn at once."""
MAX_CARDS = 16
"""Largest number of cards animated at once; if more change, none is animated."""


class Motion:
    """Motion of one step; ``share`` runs from 0 to 1 and then, while settling, on to 2."""

    def __init__(self, drawing: GraphDrawing, old: Look, duration_ms: int) -> None:
        self.duration_ms = duration_ms
        self._drawing = drawing
        self.running = active_wires(drawing)
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
        self._paint_tokens(painter, area, share)

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
