"""The still part of the graph at a position: frames, wires, cards and labels, at any detail."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from itertools import compress
from operator import is_not
from typing import Literal, TypeVar

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter

from gradscribe.playback.graph.coloring import Coloring, Mode, Tint, Tinter
from gradscribe.playback.graph.gradients.parameter_gradients import ParameterGradients
from gradscribe.playback.graph.picture import Card, CardLook, Look, Wire
from gradscribe.playback.graph.reading import LEAVES, CardReading, has_gradient
from gradscribe.playback.tape.index import index_of
from gradscribe.widgets.base.theme import Theme, mix
from gradscribe.widgets.graph.paint import frames
from gradscribe.widgets.graph.paint.card import bubbles, cards, tints
from gradscribe.widgets.graph.paint.card.bubbles import FAR_SCALE
from gradscribe.widgets.graph.paint.card.cards import LABEL_ZOOM, CardStyle, Layers
from gradscribe.widgets.graph.paint.card.sprites import SpriteCache
from gradscribe.widgets.graph.paint.far import far_cards
from gradscribe.widgets.graph.paint.far.dots import DotPainter
from gradscribe.widgets.graph.paint.far.far_names import FarNames
from gradscribe.widgets.graph.paint.stage import Stage
from gradscribe.widgets.graph.paint.tiles import LabelTiles
from gradscribe.widgets.graph.paint.wire import wires
from gradscribe.widgets.graph.paint.wire.labels import Box, Kind, LabelRequest

T = TypeVar("T")
Detail = Literal["full", "name", "block", "speck"]

MAX_AREAS = 400
"""Number of changed cards and wires above which everything is repainted."""
_TONES: tuple[wires.Tone, ...] = ("rest", "carried", "forward", "share", "backward")
"""In the order in which wires are painted at the farthest zoom."""
MAX_LABELLED = 12
"""Into a card with more wires, only those are labelled that are active, or whose label says more
than the bubble of their source."""
FADED = 0.16
"""Opacity of what is faded."""
EMPTY_LOOK = Look(cards={}, wires={})


def detail_at(zoom: float) -> Detail:
    """Return the level of detail of cards at a zoom."""
    if zoom < 0.18:
        return "speck"
    return "block" if zoom < 0.36 else "name" if zoom < 0.7 else "full"


class GraphDrawing:
    """A stage with a look, a theme and layers; paints any part of it in scene units.

    ``hidden`` cards are left out: they are in motion, and the overlay paints them meanwhile.
    """

    def __init__(self, stage: Stage, theme: Theme, layers: Layers, look: Look = EMPTY_LOOK) -> None:
        self.stage = stage
        self.theme = theme
        self.layers = layers
        self.look = look
        self.hidden: frozenset[str] = frozenset()
        self.fresh: frozenset[str] = frozenset()
        """Keys of the cards that keep their colours while the graph is stale."""
        self.focus: frozenset[str] | None = None
        """Keys of the cards that do not fade; None if none does."""
        self.rest = FADED
        """Opacity of the other cards."""
        self.sprites = SpriteCache()
        self._readings: dict[tuple[str, CardLook | None, float], CardReading] = {}
        self.coloring: Tinter | None = None
        self.zoom = self.label_scale = 1.0
        self.tiles = LabelTiles(stage, self._wishes, self._taken)
        self._parameters: ParameterGradients | None = None
        self._names = FarNames(stage)
        self._specks: DotPainter | None = None
        """Everything as shown at the farthest zoom, once that was needed."""
        self._compared: tuple[object, object, list[str]] = (None, None, [])

    def reading(self, key: str, look: CardLook | None = None) -> CardReading:
        """Return a card's reading now, or with another ``look``."""
        scale = self.label_scale or 1.0
        look = look if look is not None else self.look.cards.get(key)
        cached = (key, look, scale)
        if cached not in self._readings:
            card, box = self.stage.cards[key], self.stage.boxes[key]
            reading = self.stage.reader.card(card, look)
            if reading.gradient:
                reading = bubbles.fit_bubble(box, reading, self.stage.bubble_space(key), scale)
            if self.coloring is not None:
                reading = replace(reading, tint=self._tint(card, look, reading), tinted=True)
            self._readings[cached] = reading
        return self._readings[cached]

    def _tint(self, card: Card, look: CardLook | None, reading: CardReading) -> Tint | None:
        """Return a card's tint, without words that its number or its bubble says, too."""
        tint = self.coloring.tint(card, look) if self.coloring is not None else None
        if tint is None:
            return None
        number = reading.number if self.layers.values else ""
        return tints.unrepeated(tint, number, reading.gradient if self.layers.gradients else "")

    @property
    def parameters(self) -> ParameterGradients:
        """The gradients of the parameters inside folded modules."""
        if self._parameters is None:
            stage = self.stage
            index = index_of(stage.reader.tape)
            self._parameters = ParameterGradients(index, stage.picture.cards)
        return self._parameters

    def set_theme(self, theme: Theme) -> None:
        """Change the theme."""
        self.theme = theme
        self.sprites.clear()
        self._specks = None

    def set_coloring(self, mode: Mode) -> None:
        """Change the colour mode; an empty mode colours the cards by kind."""
        stage = self.stage
        self.set_tinter(Coloring(stage.reader.tape, stage.picture.cards, mode) if mode else None)

    def set_tinter(self, tinter: Tinter | None) -> None:
        """Take the cards' colours from ``tinter``; None colours them by kind."""
        if tinter is self.coloring:
            return
        self.coloring = tinter
        self._readings.clear()
        self.sprites.clear()
        self._specks = None
        self.tiles.clear()

    def set_focus(self, focus: frozenset[str] | None, rest: float = FADED) -> None:
        """Fade all cards but some, with the wires at them; None fades none."""
        self.focus, self.rest = focus, rest
        self._specks = None

    def set_layers(self, layers: Layers) -> None:
        """Change which layers are shown."""
        self.layers = layers
        self._readings.clear()
        self.sprites.clear()
        self._specks = None
        self.tiles.clear()

    @property
    def labels(self) -> dict[str, wires.WireLabel]:
        """Every label of the picture by the key of its wire; painting places visible ones only."""
        return self.tiles.all()

    def set_look(self, look: Look) -> list[QRectF]:
        """Change to another position's look; return the areas (scene units) that change."""
        old, self.look = self.look, look
        if old is EMPTY_LOOK and self._specks is None and not self.tiles.placed():
            # Nothing has been painted yet: comparing thousands of cards would be wasted.
            return [self._everywhere()]
        changed = self.changed_cards(old)
        tones = self._changed_wires(old)
        if self._specks is not None:
            self._specks.invalidate(changed, tones)
        labelled = self.tiles.renew()
        if len(changed) + len(tones) > MAX_AREAS:
            return [self._everywhere()]
        areas = [self._card_area(key, old.cards.get(key)) for key in changed]
        areas += [self._card_area(key, look.cards.get(key)) for key in changed]
        areas += [area for key in tones for area in self.stage.wire_areas(key)]
        return areas + [box.adjusted(-3, -3, 3, 3) for box in labelled]

    def _everywhere(self) -> QRectF:
        return self.stage.bounds.adjusted(-60, -60, 200, 60)

    def changed_cards(self, old: Look) -> list[str]:
        """Return the keys of the cards that look different from ``old``."""
        if self._compared[0] is not old.cards or self._compared[1] is not self.look.cards:
            changed = changed_keys(old.cards, self.look.cards)
            changed = [key for key in changed if key in self.stage.cards]
            self._compared = (old.cards, self.look.cards, changed)
        return self._compared[2]

    def _changed_wires(self, old: Look) -> list[str]:
        """Return the keys of the wires that look different from ``old``."""
        stage, look = self.stage, self.look
        changed = dict.fromkeys(
            key for key in changed_keys(old.wires, look.wires) if key in stage.wires
        )
        # Only in the forward pass are wires coloured that have carried their value.
        if (old.phase == "forward") != (look.phase == "forward"):
            turned = [key for key in look.wires if key in stage.wires and key not in changed]
            turned = [key for key in turned if self._tone(key, old) != self._tone(key, look)]
            changed |= dict.fromkeys(turned)
        return list(changed)

    def _tone(self, key: str, look: Look) -> wires.Tone:
        return wires.tone(look.wires.get(key), look.phase, self.layers.gradients)

    def card_area(self, key: str) -> QRectF:
        """Return the area that painting a card may touch."""
        return self._card_area(key, self.look.cards.get(key))

    def _card_area(self, key: str, look: CardLook | None) -> QRectF:
        return cards.extent(self.stage.boxes[key], self.reading(key, look))

    def label_text(self, key: str) -> str:
        """Return the text of a wire's gradient label; empty for none."""
        look = self.look.wires.get(key)
        if look is None or not self.layers.gradients:
            return ""
        source = self.look.cards.get(self.stage.wires[key].source)
        return self.stage.reader.label(look, source is not None and len(source.shares) > 1)

    def set_zoom(self, zoom: float) -> None:
        """Adapt the labels to a zoom: larger at a far zoom, left out at a farther one."""
        self.zoom = zoom
        full = detail_at(zoom) == "full"
        scale = 1.0 if full else FAR_SCALE if zoom >= LABEL_ZOOM else 0.0
        if scale != self.label_scale:
            self.label_scale = self.tiles.scale = scale
            self.tiles.clear()

    def _wishes(self, numbers: list[int]) -> list[LabelRequest]:
        """Return the labels that some wires (by number) want, the most important first."""
        wishes: list[LabelRequest] = []
        labelled: set[tuple[str, int]] = set()
        stage = self.stage
        for owner in numbers:
            key = stage.wire_keys[owner]
            wire, line = stage.wires[key], stage.label_line(owner)
            text = "" if self._is_crowded(wire) else self.label_text(key)
            output = (wire.source, wire.output)
            if text:
                active = self.look.wires[key].active == "backward"
                kind: Kind = "active" if active else "gradient"
                wishes.append(LabelRequest(key, text, kind, line, owner))
            elif output not in labelled and self._needs_shape(key):
                labelled.add(output)
                wishes.append(LabelRequest(key, wire.shape, "shape", line, owner))
            if wire.part and output not in labelled:
                labelled.add(output)
                wishes.append(LabelRequest(f"{key}#part", wire.part[:12], "part", line, owner))
        return wishes

    def _is_crowded(self, wire: Wire) -> bool:
        """Return whether a wire is one of many, and its label only repeats its source's bubble."""
        look, source = self.look.wires.get(wire.key), self.look.cards.get(wire.source)
        if look is None or look.active or (source is not None and len(source.shares) > 1):
            return False
        return len(self.stage.into[wire.target]) > MAX_LABELLED

    def _needs_shape(self, key: str) -> bool:
        """Return whether a wire shows its shape as its source does not: some folded modules."""
        wire, look = self.stage.wires[key], self.look.wires.get(key)
        if not self.layers.shapes or not wire.shape or (look is not None and look.active):
            return False
        source, target = self.stage.cards[wire.source], self.stage.cards[wire.target]
        # At a failed call the operands' shapes are what matters.
        if target.failed and target.op is None and target.kind == "op":
            return True
        return source.kind == "module" and not self.reading(wire.source).shape

    def _taken(self, area: QRectF) -> list[Box]:
        """Return the boxes that labels in ``area`` avoid: cards, decorations, plates and marks."""
        stage, scale = self.stage, self.label_scale or 1.0
        boxes: list[QRectF] = []
        for key in stage.cards_in(area, 60.0):
            box, reading = stage.boxes[key], self.reading(key)
            bubble = self.bubble(key)
            boxes += [box] if bubble is None else [box, bubble]
            if reading.tint is not None and tints.has_badge(reading.tint):
                boxes.append(tints.badge_box(box, reading.tint.words, scale))
            if reading.tag:
                boxes.append(bubbles.tag_box(box, reading.tag))
            if reading.update:
                boxes.append(bubbles.update_box(box, reading.update, scale))
            if reading.order and self.layers.order:
                boxes.append(bubbles.order_box(box, reading, scale))
        taken = [(b.left(), b.top(), b.right(), b.bottom()) for b in boxes]
        return taken + stage.fixed_in(area, 60.0)

    def bubble(self, key: str) -> QRectF | None:
        """Return the box of a card's gradient bubble; None where it has none."""
        reading = self.reading(key)
        if not reading.gradient or not self.layers.gradients:
            return None
        shown = reading if detail_at(self.zoom) == "full" else far_cards.far_reading(reading)
        box, scale = self.stage.boxes[key], self.label_scale or 1.0
        return bubbles.bubble_box(
            box, bubbles.bubble_text(shown), scale, reading.tag, reading.shift
        )

    def badge(self, key: str) -> QRectF | None:
        """Return the box of a card's colour mode badge; None where it has none."""
        tint, scale = self.reading(key).tint, self.label_scale
        if tint is None or not scale or not tints.has_badge(tint):
            return None
        return tints.badge_box(self.stage.boxes[key], tint.words, scale)

    def area_steps(self, painter: QPainter, areas: list[QRectF], zoom: float) -> Iterator[None]:
        """Paint what touches the areas (scene units); see `steps`."""
        if detail_at(zoom) == "speck":
            self._paint_specks(painter, areas, zoom)
            return
        for area in areas:
            yield from self.steps(painter, area, zoom)

    def paint(self, painter: QPainter, area: QRectF, zoom: float, sprites: bool = True) -> None:
        """Paint what touches ``area`` (scene units); without ``sprites`` all is vectors."""
        for _ in self.steps(painter, area, zoom, sprites):
            pass

    def steps(
        self, painter: QPainter, area: QRectF, zoom: float, sprites: bool = True
    ) -> Iterator[None]:
        """Paint as `paint` does, and yield after each wire, card and label."""
        detail: Detail = detail_at(zoom) if sprites else "full"
        if detail == "speck":
            self._paint_specks(painter, [area], zoom)
            return
        shown = [k for k in self.stage.frame_order if self.stage.frame_boxes[k].intersects(area)]
        for key in shown:
            box = self.stage.frame_boxes[key]
            frames.paint(painter, box, self.stage.depths[key], self.theme)
            yield
        for key in self.stage.wires_in(area):
            if self._set_opacity(painter, self._wire_opacity(key)):
                self.paint_wire(painter, key, far=detail == "block")
            yield
        painter.setOpacity(1.0)
        for key in shown:
            if detail == "full" or self.stage.frame_boxes[key].width() * zoom > 70:
                self.paint_head(painter, key, self.stage.frame_boxes[key], zoom)
                yield
        for key in self.stage.cards_in(area, 160.0):
            if key not in self.hidden and self.card_area(key).intersects(area):
                if self._set_opacity(painter, self.opacity(key)):
                    self.paint_card(painter, key, zoom, detail, sprites)
                yield
        for labels in self.tiles.labels_near(area):
            for name, label in labels.items():
                if label.box.intersects(area):
                    if self._set_opacity(painter, self._wire_opacity(name.removesuffix("#part"))):
                        wires.paint_label(painter, label, self.theme)
                    yield
        painter.setOpacity(1.0)
        if detail != "full":
            self._names.paint(painter, [area], zoom, False, self.theme)

    def opacity(self, key: str) -> float:
        """Return the opacity of a card."""
        return 1.0 if self.focus is None or key in self.focus else self.rest

    def _wire_opacity(self, key: str) -> float:
        wire = self.stage.wires[key]
        return min(self.opacity(wire.source), self.opacity(wire.target))

    def _set_opacity(self, painter: QPainter, opacity: float) -> bool:
        """Set the painter's opacity; return whether anything is visible at it."""
        if self.focus is not None:
            painter.setOpacity(opacity)
        return opacity > 0

    def paint_head(self, painter: QPainter, key: str, box: QRectF, zoom: float) -> None:
        """Write the name plate of a frame whose box is ``box``."""
        frame, depth = self.stage.frames[key], self.stage.depths[key]
        room = self.stage.head_room[key]
        lift = frames.LIFT if self.coloring is not None else 0.0
        frames.paint_head(painter, frame, box, depth, self.theme, zoom, room, lift)

    def paint_wire(self, painter: QPainter, key: str, far: bool) -> None:
        """Paint one wire as it looks now."""
        how, stage = self._tone(key, self.look), self.stage
        wire, path, head = stage.wires[key], stage.paths[key], stage.heads[key]
        crowded = key in stage.crowded
        wires.paint(painter, wire, path, head, how, self.theme, far, crowded)
        if wire.cut and not far and not crowded:
            wires.paint_cut(painter, stage.track(key), self.theme)

    def paint_card(
        self, painter: QPainter, key: str, zoom: float, detail: Detail, sprites: bool = True
    ) -> None:
        """Paint one card as it looks now, in the given detail."""
        card, box = self.stage.cards[key], self.stage.boxes[key]
        reading = self.reading(key)
        name = (key, self.look.cards.get(key), detail)
        if detail == "block" or (detail == "name" and not sprites):
            self._paint_plain(painter, key, zoom, detail == "name")
        elif detail == "name":
            paint = partial(self._paint_plain, key=key, zoom=zoom, named=True)
            self.sprites.draw(painter, name, cards.extent(box, reading), zoom, paint)
        elif sprites:
            self.draw_full(painter, key, reading, name, zoom)
        else:
            cards.paint(painter, card, box, reading, CardStyle(self.theme, self.layers))

    def draw_full(
        self, painter: QPainter, key: str, reading: CardReading, name: Hashable, zoom: float
    ) -> None:
        """Draw a card with ``reading`` in full, from the pixmap cached under ``name`` if any."""
        card, box = self.stage.cards[key], self.stage.boxes[key]
        style = CardStyle(self.theme, self.layers)
        paint = partial(cards.paint, card=card, box=box, reading=reading, style=style)
        self.sprites.draw(painter, name, cards.extent(box, reading), zoom, paint)

    def _paint_plain(self, painter: QPainter, key: str, zoom: float, named: bool) -> None:
        card, box = self.stage.cards[key], self.stage.boxes[key]
        style = CardStyle(self.theme, self.layers)
        far_cards.paint(painter, card, box, self.reading(key), style, zoom, named)

    def _paint_specks(self, painter: QPainter, areas: list[QRectF], zoom: float) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        for key in self.stage.frame_order:
            box = self.stage.frame_boxes[key]
            if any(box.intersects(area) for area in areas):
                odd = self.stage.depths[key] % 2
                painter.fillRect(box, self.theme.frame_odd if odd else self.theme.frame_even)
        if self._specks is None:
            self._specks = DotPainter(self.stage, self._speck, self._line)
        self._specks.paint_wires(painter, areas, self._take_hair)
        self._specks.paint_cards(painter, areas)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        self._names.paint(painter, areas, zoom, True, self.theme)

    def _line(self, key: str) -> int:
        return _TONES.index(self._tone(key, self.look))

    def _take_hair(self, painter: QPainter, tone: int) -> None:
        painter.setPen(wires.wire_pen(_TONES[tone], False, self.theme, True))

    def _speck(self, key: str) -> QColor:
        """Return the colour of a card drawn as a dot: by state, else by role."""
        card, look = self.stage.cards[key], self.look.cards.get(key)
        if look is not None and look.failed:
            return self.theme.error
        if look is not None and look.active:
            return self.theme.backward if look.active == "backward" else self.theme.forward
        theme = (
            self.theme if look is not None and look.reached else cards.unreached_theme(self.theme)
        )
        if self.opacity(key) < 1:
            return mix(theme.line, theme.canvas, self.opacity(key))
        if self.coloring is not None:
            tint = self.coloring.tint(card, look)
            return theme.line if tint is None else tints.color(tint, theme.dark)
        if look is not None and has_gradient(look) and self.layers.gradients:
            return _pale(theme)
        if card.kind in LEAVES:
            return theme.color(card.kind)
        return theme.ink if card.kind == "loss" else theme.edge


@lru_cache(maxsize=8)
def _pale(theme: Theme) -> QColor:
    return mix(theme.backward, theme.canvas, 0.75)


def changed_keys(old: Mapping[str, T], new: Mapping[str, T]) -> list[str]:
    """Return the keys whose entries differ between two tables that mostly share their entries.

    As tables grow and shrink at their ends, shared entries are at the same index.
    """
    if old is new:
        return []
    before, after = list(old), list(new)
    same = min(len(before), len(after))
    if before[:same] != after[:same]:
        keys = [*new, *(key for key in old if key not in new)]
        return [key for key in keys if old.get(key) != new.get(key)]
    others = compress(after[:same], map(is_not, old.values(), new.values()))
    changed = [key for key in others if old[key] != new[key]]
    return [*changed, *before[same:], *after[same:]]
