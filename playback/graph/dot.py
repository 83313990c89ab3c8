"""Export of a picture as a DOT file for Graphviz."""

from collections import defaultdict
from collections.abc import Iterator

from gradscribe.playback.graph.picture import Card, Frame, Picture

SHAPES = {
    "parameter": "shape=box, style=rounded, peripheries=2",
    "data": "shape=ellipse",
    "constant": "shape=ellipse, style=dashed",
    "op": "shape=box",
    "loss": "shape=box, style=bold",
    "module": "shape=box3d",
}
"""Card kind -> node attributes; shapes and lines only, so that it prints without colour."""


def to_dot(picture: Picture, title: str = "") -> str:
    """Return a picture in the DOT language: cards as nodes, frames as clusters, wires as edges.

    Nodes are numbered in order of execution, so that the same picture gives the same text.
    """
    names = {card.key: f"n{number}" for number, card in enumerate(picture.cards)}
    inside: dict[str, list[Card]] = defaultdict(list)
    below: dict[str, list[Frame]] = defaultdict(list)
    for card in picture.cards:
        inside[card.frame].append(card)
    for frame in picture.frames:
        below[frame.parent].append(frame)
    lines = [f"digraph {_quoted(title or picture.title or 'graph')} {{", "  ordering=in;"]
    lines += _within("", 1, names, inside, below)
    for wire in picture.wires:
        notes = {"label": wire.shape, "style": "dashed" if wire.dashed else ""}
        attributes = ", ".join(f"{key}={_quoted(text)}" for key, text in notes.items() if text)
        ends = f"  {names[wire.source]} -> {names[wire.target]}"
        lines.append(f"{ends} [{attributes}];" if attributes else f"{ends};")
    return "\n".join([*lines, "}"]) + "\n"


def _within(
    frame: str,
    depth: int,
    names: dict[str, str],
    inside: dict[str, list[Card]],
    below: dict[str, list[Frame]],
) -> Iterator[str]:
    """Yield the DOT lines of a frame: its cards, then its inner frames."""
    space = "  " * depth
    for card in inside[frame]:
        yield f"{space}{names[card.key]} [label={_quoted(_label(card))}, {_shape(card)}];"
    for number, inner in enumerate(below[frame]):
        name = f"cluster_{depth}_{number}_{inner.call}"
        yield f"{space}subgraph {_quoted(name)} {{"
        yield f"{space}  label={_quoted(f'{inner.title}: {inner.kind}')};"
        yield from _within(inner.key, depth + 1, names, inside, below)
        yield f"{space}}}"


def _shape(card: Card) -> str:
    """Return the node attributes of a card; a double outline where the program failed in it."""
    return f"{SHAPES[card.kind]}, peripheries=2" if card.failed else SHAPES[card.kind]


def _label(card: Card) -> str:
    """Return the title, with the variable's name, the literal or the note below it."""
    repeats = f" ×{card.repeats}" if card.repeats > 1 else ""
    rest = card.literal or (card.name if card.name != card.title else "") or card.note
    lines = [card.title + repeats, rest, card.failed if card.failed != rest else ""]
    return "\n".join(filter(None, lines))


def _quoted(text: str) -> str:
    r"""Return a DOT string; newlines are written as ``\n``."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
