"""The picture of a scene: cards and wires, where they stand, and how they look at a position.

Types only. `playback.graph` builds a `Picture` from a tape, `playback.layout` a `Placement` from a
picture, `playback.look` a `Look` from tape, picture and position; the graph view draws the three.
"""

from typing import Literal, NamedTuple

from msgspec import Struct

Flow = Literal["down", "right"]
"""Which way values run in a picture."""

CardKind = Literal["parameter", "data", "constant", "op", "loss", "module"]
"""*loss* is the op card that backward started from; *module* a folded module call."""


class Card(Struct, frozen=True, gc=False):
    """One thing drawn: a leaf pill, an op card, or a folded module.

    ``key`` is stable when other parts of the program change. ``width`` and ``height`` are in
    scene units (pixels at 100 %).
    """

    key: str
    kind: CardKind
    title: str
    """What is big on it: the leaf's name, the op's name, the module's path."""
    name: str = ""
    """The variable the result is bound to."""
    symbol: str = ""
    """What stands in the chip: ``×``, ``+``, ``tanh``, ``x²``."""
    note: str = ""
    """A small third line: ``x Wᵀ + b``, ``8 → 8 · 72 params``."""
    value: int | None = None
    """The value id whose numbers the card shows; None for literals and some modules."""
    literal: str = ""
    """The number on a constant that is a plain Python literal."""
    op: int | None = None
    """Index in `Tape.ops`."""
    call: int | None = None
    """Index in `Tape.calls` of the folded module, or of the module around an op."""
    ops: tuple[int, ...] = ()
    """Indices of all ops inside a folded module (for an op card its own)."""
    frame: str = ""
    """Key of the open module frame it stands in; empty at the top."""
    scalar: bool = True
    cut: bool = False
    """True where no gradient can pass: detached, under no_grad, or of constants only."""
    mark: str = ""
    """A small tag: ``view of a``, ``v2`` after an in-place change, ``×3`` for folded repeats."""
    repeats: int = 1
    failed: str = ""
    """What was raised here and ended the program. Without an `op` it is the call that raised."""
    width: float = 164.0
    height: float = 58.0


class Wire(Struct, frozen=True, gc=False):
    """A value on its way from the card that made it to a card that uses it."""

    key: str
    source: str
    target: str
    operand: int
    """Place among the target's inputs, from 0: the layout keeps this order left to right."""
    output: int = 0
    """Which output of the source it is."""
    value: int | None = None
    shape: str = ""
    dashed: bool = False
    """True where no gradient comes back along it."""
    cut: str = ""
    """Why a gradient that could come back stops here: ``detach``, ``no_grad``, an op's name."""
    part: str = ""
    """Which of several outputs of the source it is: its name, else ``[1]``."""


class Frame(Struct, frozen=True, gc=False):
    """An open module: a box around its cards, and around the frames of its own open modules."""

    key: str
    call: int
    title: str
    kind: str
    note: str = ""
    parent: str = ""
    repeats: int = 1


class Picture(Struct, frozen=True):
    """All that is drawn of one scene. Cards are in order of execution, producers first."""

    cards: tuple[Card, ...]
    wires: tuple[Wire, ...]
    frames: tuple[Frame, ...] = ()
    edge_wires: dict[tuple[int, int], str] = {}
    """(backward node id, slot in its next functions) -> key of the wire its share runs along."""
    node_cards: dict[int, str] = {}
    """Backward node id -> key of the card of the op (or folded module) that made it."""
    value_cards: dict[int, str] = {}
    """Value id -> key of the card that shows where it was made."""
    title: str = ""


class Rect(Struct, frozen=True, gc=False):
    """Top left corner and size, in scene units; y grows downwards."""

    x: float
    y: float
    width: float
    height: float


class Seat(NamedTuple):
    """Which place something has in its frame, so that a later placement can keep it.

    ``line`` and ``part`` count the parts that do not hang together, ``row`` the rows of the part;
    ``x`` is across the flow and ``y`` along it, from the frame's corner to the middle of the thing.
    """

    line: int
    part: int
    row: int
    x: float
    y: float


class Placement(Struct, frozen=True):
    """Where everything stands.

    ``routes``: per wire key the points of a path: a start, then triples of control, control, end
    of cubic curves (straight pieces are cubics too), as ``((x, y), ...)``. ``seats``: per key of a
    card or frame its place in the frame it stands in.
    """

    cards: dict[str, Rect]
    frames: dict[str, Rect]
    routes: dict[str, tuple[tuple[float, float], ...]]
    width: float
    height: float
    seats: dict[str, Seat] = {}


class CardLook(Struct, frozen=True, gc=False):
    """One card at a position. ``gradient`` is the snapshot of what it received so far."""

    reached: bool = False
    active: Literal["", "forward", "backward", "update"] = ""
    snapshot: int | None = None
    gradient: int | None = None
    shares: tuple[int, ...] = ()
    """Snapshots of the shares that arrived, in order of arrival (3 and 1 of 3 + 1 = 4)."""
    changed: bool = False
    """True where an update gave a leaf new numbers at this position."""
    before: int | None = None
    """Where ``changed``, the snapshot of the numbers before the first update of the scene."""
    reset: Literal["", "none", "zeros"] = ""
    """*zeros* while ``.grad`` holds zeros it was reset to, *none* at the event of its going."""
    pending: bool = False
    """True while shares arrive whose sum is not made yet."""
    failed: bool = False
    """True from when the program ended in it."""
    version: int | None = None
    """The version that in-place ops brought the card's memory to since the card was reached."""


class WireLook(Struct, frozen=True, gc=False):
    """One wire at a position."""

    carried: bool = False
    """The value has passed forward."""
    share: int | None = None
    """Snapshot of the gradient that came back along it."""
    factor: str = ""
    """The local derivative as a label: ``× (1 − o²) = 0.5``; empty where none is known."""
    active: Literal["", "forward", "backward"] = ""
    shares: tuple[int, ...] = ()
    """All shares of this pass; several where a folded module or a composite op uses the value
    more than once, and then ``share`` is None."""


class Look(Struct, frozen=True):
    """How everything looks at a position; missing keys look not reached."""

    cards: dict[str, CardLook]
    wires: dict[str, WireLook]
    line: int = 0
    """The source line that is playing; 0 for none."""
    phase: Literal["", "forward", "backward", "update"] = ""
    caption: str = ""
    """The event in words: ``AddBackward0 hands on its gradient``."""
