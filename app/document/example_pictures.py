"""Small pictures of the examples, boxes and lines, made by ``tools/example_pictures.py``."""

from functools import cache
from importlib import resources

import msgspec
from msgspec import Struct

from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.graph import build
from gradscribe.playback.graph.picture import CardKind
from gradscribe.playback.layout import place
from gradscribe.playback.tape import scenes

FILE = "pictures.json"
POINTS = 6
"""Most points of a line."""


class SmallPicture(Struct, frozen=True):
    """A graph in scene units: boxes as (kind, x, y, width, height), lines as x, y, x, y, ..."""

    width: int
    height: int
    boxes: tuple[tuple[CardKind, int, int, int, int], ...]
    lines: tuple[tuple[int, ...], ...]


def picture_of(tape: Tape) -> SmallPicture:
    """Return the picture of a program's first scene."""
    picture = build.build_picture(tape, scenes.scenes(tape)[0], None)
    placement = place.place(picture)
    kinds = {card.key: card.kind for card in picture.cards}
    boxes = tuple(
        (kinds[key], round(box.x), round(box.y), round(box.width), round(box.height))
        for key, box in placement.cards.items()
    )
    lines = tuple(_line(route) for route in placement.routes.values() if len(route) > 1)
    return SmallPicture(round(placement.width), round(placement.height), boxes, lines)


def _line(route: tuple[tuple[float, float], ...]) -> tuple[int, ...]:
    """Return the ends of a route's curves, thinned."""
    corners = [*route[::3], route[-1]] if len(route) % 3 != 1 else list(route[::3])
    every = max(1, -(-len(corners) // POINTS))
    kept = [*corners[:-1:every], corners[-1]]
    return tuple(round(number) for corner in kept for number in corner)


@cache
def load() -> dict[str, SmallPicture]:
    """Return the pictures by the examples' names."""
    folder = resources.files("gradscribe.assets") / "examples"
    return msgspec.json.decode((folder / FILE).read_bytes(), type=dict[str, SmallPicture])
