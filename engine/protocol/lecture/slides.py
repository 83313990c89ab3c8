"""Slides of a lecture on a run: what the window shows at each, as plain data."""

import math

from msgspec import Struct

from gradscribe.engine.protocol.structs import replace

MAX_SLIDES = 500
MAX_TITLE = 200
"""Most characters of a title."""
MAX_NOTE = 10_000
"""Most characters of a note."""
MAX_MODULES = 10_000
"""Most open modules."""
MAX_NAME = 1000
"""Most characters of the key of a card, as of any name on a tape."""
MAX_SHOWN = 100_000
"""Most gradients that are shown while others are blank."""
MAX_PLACE = 1 << 40
MAX_REACH = 1e9
"""Largest distance in units of the graph."""
LEAST_TEXT, MOST_TEXT = 1.0, 3.0


class Sight(Struct, frozen=True):
    """The part of the graph in view, in units of the graph; without a size all of it.

    It is measured from a card, so that it is the same part where other fonts give other places.
    """

    card: str = ""
    x: float = 0.0
    """From the middle of the card to the middle of the view."""
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0


class Slide(Struct, frozen=True):
    """A state of the window. ``position`` p means that the first p events have happened."""

    title: str = ""
    note: str = ""
    position: int = 0
    step: int = 0
    """Step of the loop, from 1; 0 without a loop. ``position`` then counts from its start."""
    source: str = ""
    """The first 16 hexadecimal digits of the SHA-256 of the program that was run."""
    sight: Sight = Sight()
    open_calls: tuple[str, ...] | None = None
    selection: str = ""
    values: bool = True
    gradients: bool = True
    shapes: bool = True
    order: bool = False
    coloring: str = ""
    flow: str = "down"
    gradient_only: bool = False
    asked: tuple[str, str, int] | None = None
    """The question to the graph: its name, the card that it is about, the only way or -1."""
    blank: bool = False
    """True if gradients are blank until they are revealed."""
    shown: tuple[tuple[int, int], ...] = ()
    """Gradients that are shown all the same: node and output, or leaf and 0."""
    at_once: bool = False
    """True if they are revealed all at once, not one at a time."""
    text: float = 1.35
    """Size of all text outside of the graph, of its usual size."""


def plausible(slides: tuple[Slide, ...]) -> tuple[Slide, ...]:
    """Return the slides without values out of range, which a file may contain."""
    return tuple(map(_plausible, slides[:MAX_SLIDES]))


def _plausible(slide: Slide) -> Slide:
    calls, asked = slide.open_calls, slide.asked
    if calls is not None and (
        len(calls) > MAX_MODULES or max(map(len, calls), default=0) > MAX_NAME
    ):
        calls = None
    if asked is not None and max(len(asked[0]), len(asked[1]), abs(asked[2])) > MAX_NAME:
        asked = None
    is_text = math.isfinite(slide.text)
    return replace(
        slide,
        title=" ".join(slide.title[:MAX_TITLE].split()),
        note=slide.note[:MAX_NOTE],
        position=min(max(0, slide.position), MAX_PLACE),
        step=min(max(0, slide.step), MAX_PLACE),
        source=slide.source[:MAX_NAME],
        sight=_plausible_sight(slide.sight),
        open_calls=calls,
        selection=slide.selection if len(slide.selection) <= MAX_NAME else "",
        coloring=slide.coloring[:MAX_NAME],
        flow=slide.flow if slide.flow in ("down", "right") else "down",
        asked=asked,
        shown=slide.shown[:MAX_SHOWN],
        text=min(max(LEAST_TEXT, slide.text), MOST_TEXT) if is_text else LEAST_TEXT,
    )


def _plausible_sight(sight: Sight) -> Sight:
    numbers = (sight.x, sight.y, sight.width, sight.height)
    is_near = all(math.isfinite(number) and abs(number) <= MAX_REACH for number in numbers)
    is_part = sight.width > 0 and sight.height > 0 and len(sight.card) <= MAX_NAME
    return sight if is_near and is_part else Sight()
