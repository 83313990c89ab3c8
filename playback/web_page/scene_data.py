"""Data of a scene: its fold states with layouts, and timelines of cards and wires."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from gradscribe.playback.graph.description import card_name, describe_card, describe_wire
from gradscribe.playback.graph.look import look_at
from gradscribe.playback.graph.picture import (
    Card,
    CardLook,
    Picture,
    Placement,
    Rect,
    Wire,
    WireLook,
)
from gradscribe.playback.graph.reading import CardReader, CardReading
from gradscribe.playback.layout.place import place
from gradscribe.playback.tape.index import Index
from gradscribe.playback.tape.scenes import Scene
from gradscribe.playback.web_page import number_text
from gradscribe.playback.web_page.fold_states import fold_states, open_keys
from gradscribe.playback.web_page.interned import Data, Interned, add_change
from gradscribe.playback.web_page.subjects import CardSubject


@dataclass
class Tables:
    """Things that are stored once for the whole page."""

    cards: Interned = field(default_factory=Interned)
    readings: Interned = field(default_factory=Interned)
    wires: Interned = field(default_factory=Interned)
    marks: Interned = field(default_factory=Interned)
    """States of wires."""
    timelines: Interned = field(default_factory=Interned)
    routes: Interned = field(default_factory=Interned)
    frames: Interned = field(default_factory=Interned)
    grids: Interned = field(default_factory=Interned)
    subjects: dict[str, CardSubject] = field(default_factory=dict)
    """Key of what a card is about -> the same with its op and value."""


class SceneData(NamedTuple):
    """A scene as plain data; the cards of its fold states; the modules that cannot be opened."""

    data: Data
    cards: int
    closed: int


def scene_data(index: Index, scene: Scene, stop: int, most: int, tables: Tables) -> SceneData:
    """Return a scene up to the position ``stop``.

    ``most`` limits the cards of all its fold states together.
    """
    pictures, closed = fold_states(index, scene, most)
    usual = next(iter(pictures.values()))
    first = place(usual)
    states = []
    for picture in pictures.values():
        placed = first if picture is usual else place(picture, previous=(usual, first))
        states.append(_State(index, scene, picture, placed, tables).data(stop))
    data: Data = {
        "title": scene.title,
        "start": scene.start,
        "stop": stop,
        "states": states,
        "closed": sorted(closed),
    }
    return SceneData(data, sum(len(picture.cards) for picture in pictures.values()), len(closed))


class _State:
    """One fold state of a scene."""

    def __init__(
        self, index: Index, scene: Scene, picture: Picture, placed: Placement, tables: Tables
    ) -> None:
        self.index, self.scene, self.picture = index, scene, picture
        self.placed, self.tables = placed, tables
        self.reader = CardReader(index.tape, picture.cards)
        self.cards = {card.key: card for card in picture.cards}
        self.makers: dict[str, list[str]] = {}
        for wire in picture.wires:
            self.makers.setdefault(wire.target, []).append(card_name(self.cards[wire.source]))
        self.wires = {wire.key: wire for wire in picture.wires}
        self.card_times: dict[str, list[int]] = {card.key: [] for card in picture.cards}
        self.wire_times: dict[str, list[int]] = {wire.key: [] for wire in picture.wires}

    def data(self, stop: int) -> Data:
        """Return the state as plain data."""
        self._play(stop)
        tables, placed = self.tables, self.placed
        places = {key: place for place, key in enumerate(self.cards)}
        return {
            "open": sorted(open_keys(self.picture)),
            "size": [round(placed.width), round(placed.height)],
            "cards": [
                [self._card(card), *_corner(placed.cards[key]), self._times(self.card_times[key])]
                for key, card in self.cards.items()
            ],
            "wires": [
                [
                    tables.wires.add(_wire(wire)),
                    places[wire.source],
                    places[wire.target],
                    tables.routes.add(_route(placed.routes[key])),
                    self._times(self.wire_times[key]),
                ]
                for key, wire in self.wires.items()
                if key in placed.routes
            ],
            "frames": self._frames(),
        }

    def _play(self, stop: int) -> None:
        """Note what every card and wire shows at the positions of the scene."""
        cards: Mapping[str, CardLook] = {}
        wires: Mapping[str, WireLook] = {}
        several: dict[str, bool] = {}
        for position in range(self.scene.start, stop + 1):
            look = look_at(self.index, self.picture, self.scene, position)
            is_first = position == self.scene.start
            for key, card in self.cards.items():
                now = look.cards.get(key)
                if is_first or now != cards.get(key):
                    state = self._reading(card, now)
                    add_change(self.card_times[key], position, state)
            for key, wire in self.wires.items():
                source = look.cards.get(wire.source)
                many = source is not None and len(source.shares) > 1
                seen = look.wires.get(key)
                if is_first or seen != wires.get(key) or many != several[key]:
                    several[key] = many
                    add_change(self.wire_times[key], position, self._mark(wire, seen, many))
            cards, wires = look.cards, look.wires

    def _times(self, timeline: list[int]) -> int:
        return self.tables.timelines.add(timeline)

    def _card(self, card: Card) -> int:
        subject = ""
        if card.kind != "module" and (card.op is not None or card.value is not None):
            subject = f"o{card.op}" if card.op is not None else f"v{card.value}"
            self._note(subject, card.op, card.value)
        elif card.value is not None:
            subject = f"v{card.value}"
            self._note(subject, None, card.value)
        about = {
            "key": card.key,
            "kind": card.kind,
            "title": card.title,
            "name": card.name,
            "symbol": card.symbol,
            "note": card.note,
            "literal": card.literal,
            "scalar": int(card.scalar),
            "cut": int(card.cut),
            "failed": card.failed,
            "call": int(card.is_failed_call),
            "about": subject,
            "size": [round(card.width, 1), round(card.height, 1)],
        }
        return self.tables.cards.add({name: item for name, item in about.items() if item})

    def _note(self, key: str, op: int | None, value: int | None) -> None:
        start, stop = self.scene.start, self.scene.stop
        known = self.tables.subjects.get(key)
        first = start if known is None else min(start, known.first)
        self.tables.subjects[key] = CardSubject(op, value, first, stop)

    def _reading(self, card: Card, look: CardLook | None) -> int:
        reading = self.reader.card(card, look)
        share = "" if reading.share is None else number_text.shade(reading.share)
        grid = number_text.cells(reading.grid)
        shown = {
            "on": int(reading.state == "reached"),
            "number": reading.number,
            "share": share,
            "shape": reading.shape,
            "grid": self.tables.grids.add(grid) + 1 if grid else 0,
            "gradient": reading.gradient,
            "bad": reading.bad,
            "badGradient": int(reading.bad_gradient),
            "active": reading.active,
            "failed": reading.failed,
            "update": reading.update,
            "tag": reading.tag,
            "hollow": int(reading.pending or reading.past or bool(reading.reset)),
            "dashed": int(reading.pending or reading.reset == "none"),
            "pale": int(reading.past or reading.reset == "none"),
            "says": self._description(card, reading),
        }
        return self.tables.readings.add({name: item for name, item in shown.items() if item})

    def _description(self, card: Card, reading: CardReading) -> str:
        return describe_card(card, reading, self.makers.get(card.key, []))

    def _mark(self, wire: Wire, look: WireLook | None, several: bool) -> int:
        ends = card_name(self.cards[wire.source]), card_name(self.cards[wire.target])
        if look is None:
            return self.tables.marks.add({"says": describe_wire(wire, *ends, "")})
        label = self.reader.label(look, several)
        has_share = (look.share is not None or bool(look.shares)) and not look.past
        mark = {
            "active": look.active,
            "carried": int(look.carried),
            "share": int(has_share),
            "label": label,
            "says": describe_wire(wire, *ends, label),
        }
        return self.tables.marks.add({name: item for name, item in mark.items() if item})

    def _frames(self) -> list[list[object]]:
        depths: dict[str, int] = {}
        found: list[list[object]] = []
        for frame in self.picture.frames:
            depths[frame.key] = depths.get(frame.parent, -1) + 1
            if (box := self.placed.frames.get(frame.key)) is None:
                continue
            repeats = f"×{frame.repeats}" if frame.repeats > 1 else ""
            note = " · ".join(part for part in (repeats, frame.note) if part)
            about = self.tables.frames.add([frame.key, frame.title, frame.kind, note])
            size = round(box.width, 1), round(box.height, 1)
            found.append([about, *_corner(box), *size, depths[frame.key]])
        return found


def _corner(box: Rect) -> tuple[float, float]:
    return round(box.x, 1), round(box.y, 1)


def _route(points: tuple[tuple[float, float], ...]) -> list[float]:
    return [round(number, 1) for point in points for number in point]


def _wire(wire: Wire) -> Data:
    about = {
        "dashed": int(wire.dashed),
        "cut": wire.cut,
        "part": wire.part,
        "shape": wire.shape,
    }
    return {name: item for name, item in about.items() if item}
