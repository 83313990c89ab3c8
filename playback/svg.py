"""A picture and its placement as SVG text, without Qt: for notebooks and pages."""

import re
from collections.abc import Iterator
from typing import Literal
from xml.sax.saxutils import escape

from gradscribe.playback.graph.build import build_picture
from gradscribe.playback.graph.picture import Card, Picture, Placement, Rect
from gradscribe.playback.layout.place import place
from gradscribe.playback.tape import snapshot_text
from gradscribe.playback.tape.index import Index
from gradscribe.playback.tape.scenes import scenes

MARGIN = 16.0
CHARACTER = 6.6
"""Width of a character of the text, in scene units."""
Theme = Literal["auto", "light", "dark"]
COLORS: dict[str, dict[str, str]] = {
    "light": {
        "ground": "#F4F6F9", "frame": "#ECEFF5", "frame_line": "#CBD3DF", "card": "#FFFFFF",
        "line": "#7C899C", "parameter": "#0F766E", "data": "#9A5B00", "constant": "#5C687C",
        "module": "#E4E9F2", "loss": "#0B55C4", "failed": "#B93815", "wire": "#7E8BA0",
        "ink": "#17202C", "note": "#52606F", "gradient": "#C2185B",
    },
    "dark": {
        "ground": "#12151A", "frame": "#181D24", "frame_line": "#38424F", "card": "#1D232C",
        "line": "#7F8CA0", "parameter": "#6FE3CC", "data": "#F7C948", "constant": "#8895A7",
        "module": "#2A3342", "loss": "#7FB2FF", "failed": "#FF9468", "wire": "#66738A",
        "ink": "#EAEFF6", "note": "#A9B5C4", "gradient": "#FF5797",
    },
}  # fmt: skip
"""Colours of the window's themes."""
NAME = "gradscribe-graph"
"""Class of the picture: in a page its style must not reach anything else."""
_RULES = """
.ground { fill: %(ground)s } .frame { fill: %(frame)s; stroke: %(frame_line)s }
.card { fill: %(card)s; stroke: %(line)s } .parameter { stroke: %(parameter)s; stroke-width: 2 }
.data { stroke: %(data)s } .constant { stroke: %(constant)s; stroke-dasharray: 4 3 }
.module { fill: %(module)s } .loss { stroke: %(loss)s; stroke-width: 2 }
.failed { stroke: %(failed)s } .wire { fill: none; stroke: %(wire)s; stroke-width: 1.5 }
.cut { stroke-dasharray: 4 3 }
text { font: 12px Inter, "Segoe UI", "DejaVu Sans", sans-serif; fill: %(ink)s }
.title { font-weight: 600 } .note { fill: %(note)s } .gradient { fill: %(gradient)s }
.error { fill: %(failed)s }
"""


def _style(theme: Theme) -> str:
    """Return the style sheet; ``auto`` follows the reader's system."""
    first = _scoped(COLORS["dark" if theme == "dark" else "light"])
    if theme != "auto":
        return first
    return f"{first}@media (prefers-color-scheme: dark) {{{_scoped(COLORS['dark'])}}}\n"


def _scoped(colors: dict[str, str]) -> str:
    return re.sub(r"(?m)(^|(?<=} ))(?=[.a-z])", f".{NAME} ", _RULES % colors)


def to_svg(index: Index, scene: int = -1, theme: Theme = "auto") -> str:
    """Return the graph of one scene as SVG text, with the numbers at the end of the run.

    Modules are folded as in the window. Values are in ink, gradients in pink behind a ``∇``.

    Args:
        index: of the tape.
        scene: which step of a loop; the last one if it is left out.
        theme: ``auto`` is light or dark as the system of the reader.

    Raises:
        IndexError: there is no such scene.
    """
    picture = build_picture(index, scenes(index)[scene])
    return draw(index, picture, place(picture), theme)


def draw(index: Index, picture: Picture, placed: Placement, theme: Theme = "auto") -> str:
    """Return a placed picture as SVG text."""
    width, height = placed.width + 2 * MARGIN, placed.height + 2 * MARGIN
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.1f} {height:.1f}"'
    spoken = f'role="img" aria-label="Graph of {len(picture.cards)} cards"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{NAME}" {size} {spoken}>',
        f"<style>{_style(theme)}</style>",
        f'<rect class="ground" width="{width:.1f}" height="{height:.1f}"/>',
        f'<g transform="translate({MARGIN:g} {MARGIN:g})">',
    ]
    for frame in picture.frames:
        if frame.key in placed.frames:
            lines += _frame(placed.frames[frame.key], f"{frame.title}: {frame.kind}")
    for wire in picture.wires:
        if wire.key in placed.routes:
            cut = " cut" if wire.dashed or wire.cut else ""
            lines.append(f'<path class="wire{cut}" d="{_path(placed.routes[wire.key])}"/>')
    for card in picture.cards:
        if card.key in placed.cards:
            lines += _card(index, card, placed.cards[card.key])
    return "\n".join([*lines, "</g>", "</svg>"]) + "\n"


def _frame(rect: Rect, title: str) -> Iterator[str]:
    yield f'<rect class="frame" rx="10" {_place(rect)}/>'
    yield _text(rect.x + 10, rect.y + 16, "note", title, rect.width - 20)


def _card(index: Index, card: Card, rect: Rect) -> Iterator[str]:
    kind = "failed" if card.failed else card.kind
    radius = 8 if card.kind in ("op", "loss", "module") else rect.height / 2
    yield f'<g><rect class="card {kind}" rx="{radius:.1f}" {_place(rect)}/>'
    # As many rows as the card has space for.
    rows = _rows(index, card)[: max(int((rect.height - 6) / 16), 1)]
    top = rect.y + (rect.height - 16 * len(rows)) / 2 + 12
    inset = max(10.0, radius * 0.6)
    for number, (style, text) in enumerate(rows):
        yield _text(rect.x + inset, top + 16 * number, style, text, rect.width - 2 * inset)
    yield "</g>"


def _rows(index: Index, card: Card) -> list[tuple[str, str]]:
    """Return the lines of text on a card, each with its style, the most important first."""
    numbers = [("note", card.literal)] if card.literal else list(_numbers(index, card))
    if card.kind in ("parameter", "data", "constant"):
        # Its card is low: name and value share a line where a gradient follows.
        if len(numbers) < 2:
            return [("title", card.title), *numbers] if card.title else numbers
        return [("title", f"{card.title}  {numbers[0][1]}".strip()), *numbers[1:]]
    title = card.title if card.name in ("", card.title) else f"{card.name} = {card.title}"
    rows = [("title", title)]
    rows += [("error", card.failed.partition("\n")[0])] if card.failed else []
    return [*rows, *numbers, *([("note", card.note)] if card.note else [])]


def _numbers(index: Index, card: Card) -> Iterator[tuple[str, str]]:
    if card.value is None:
        return
    value = index.values[card.value]
    shown = index.snapshot(value.snapshot)
    if shown is not None:
        yield "note", snapshot_text.value(shown)
    state = index.gradient(card.value, len(index.tape.events))
    sent = index.snapshot(state.returned if state.snapshot is None else state.snapshot)
    if sent is not None:
        yield "gradient", f"∇ {snapshot_text.value(sent)}"


def _text(x: float, y: float, style: str, text: str, width: float) -> str:
    longest = max(int(width / CHARACTER), 1)
    short = text if len(text) <= longest else text[: longest - 1] + "…"
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{_legal(short)}</text>'


def _legal(text: str) -> str:
    """Return a text as XML; characters that XML cannot hold become U+FFFD."""
    return escape("".join(c if c.isprintable() else "\ufffd" for c in text))


def _place(rect: Rect) -> str:
    corner = f'x="{rect.x:.1f}" y="{rect.y:.1f}"'
    return f'{corner} width="{rect.width:.1f}" height="{rect.height:.1f}"'


def _path(points: tuple[tuple[float, float], ...]) -> str:
    (x, y), rest = points[0], points[1:]
    curves = " ".join(f"{x:.1f} {y:.1f}" for x, y in rest)
    return f"M {x:.1f} {y:.1f} C {curves}" if curves else f"M {x:.1f} {y:.1f}"
