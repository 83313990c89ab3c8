"""Types of the graph: cards and wires of a scene, their placement, their look at a position.

`playback.graph.build` builds a `Picture` from a tape, `playback.layout.place` a `Placement` from a
picture,
`playback.graph.look` a `Look` from tape, picture and position; the graph view draws the three.
"""

from typing import Literal, NamedTuple

from msgspec import Struct

from gradscribe.playback.tape.phases import Active

Flow = Literal["down", "right"]
"""Direction in which values flow through a picture."""

CardKind = Literal["parameter", "data", "constant", "op", "loss", "module"]
"""*loss* is the op card that backward started from; *module* a folded module call,
a stretch of repeated ops, or a row of leaves."""


class Card(Struct, frozen=True, gc=False):
    """A node of the graph: a leaf (drawn as a pill), an op, or a folded module.

    ``key`` is stable when other parts of the program change. ``width`` and ``height`` are in
    scene units (pixels at 100 %).
    """

    key: str
    kind: CardKind
    title: str
    """Heading: the leaf's name, the op's name, the module's path."""
    name: str = ""
    """The variable the result is bound to."""
    symbol: str = ""
    """Text of the chip: ``×``, ``+``, ``tanh``, ``x²``."""
    note: str = ""
    """A small third line: ``x Wᵀ + b``, ``8 → 8 · 72 params``."""
    value: int | None = None
    """Id of the value that the card shows; None for literals and some modules."""
    literal: str = ""
    """The number on a constant that is a plain Python literal."""
    op: int | None = None
    """Index in `Tape.ops`."""
    call: int | None = None
    """Index in `Tape.calls` of the folded module, or of the module around an op."""
    ops: tuple[int, ...] = ()
    """Indices of all ops inside a folded module (for an op card its own)."""
    leaves: tuple[int, ...] = ()
    """First versions of the leaves inside a folded module or row that require a gradient."""
    frame: str = ""
    """Key of the open module frame around it; empty at the top level."""
    scalar: bool = True
    cut: bool = False
    """True where no gradient can pass: detached, under no_grad, or of constants only."""
    mark: str = ""
    """A small tag: ``view of a``, ``v2`` after an in-place change, ``×3`` for folded repeats."""
    repeats: int = 1
    last_call: int | None = None
    """The call whose result folded repeats show: the last; None for all other cards."""
    failed: str = ""
    """Message of the error that ended the program here; without an `op` this is the failed call."""
    width: float = 164.0
    height: float = 58.0

    @property
    def is_failed_call(self) -> bool:
        """True for the call that raised; without output, its card shows the error."""
        return bool(self.failed) and self.kind == "op" and self.op is None


class Wire(Struct, frozen=True, gc=False):
    """An edge of the graph: a value from the card that made it to a card that uses it."""

    key: str
    source: str
    target: str
    operand: int
    """Index among the target's inputs; the layout preserves this order from left to right."""
    output: int = 0
    """Index among the source's outputs."""
    value: int | None = None
    shape: str = ""
    dashed: bool = False
    """True where no gradient flows back along it."""
    cut: str = ""
    """Reason why a gradient stops here: ``detach``, ``no_grad``, an op's name; empty for none."""
    part: str = ""
    """Label of the output if the source has several: its name, else ``[1]``."""
    broadcast: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    """The value's shape and that of the result, where the op copies it along axes."""


class Frame(Struct, frozen=True, gc=False):
    """An open module: a box around its cards, and around the frames of its own open modules."""

    key: str
    call: int | None
    """Index in `Tape.calls`; None for repeated ops and for a row of leaves."""
    title: str
    kind: str
    note: str = ""
    parent: str = ""
    repeats: int = 1
    last_call: int | None = None
    """The last call of repeats; None for all other frames."""


class Picture(Struct, frozen=True):
    """The graph of one scene. Cards are in order of execution, producers first."""

    cards: tuple[Card, ...]
    wires: tuple[Wire, ...]
    frames: tuple[Frame, ...] = ()
    edge_wires: dict[tuple[int, int], str] = {}
    """(backward node id, slot in its next functions) -> key of the wire of that edge."""
    node_cards: dict[int, str] = {}
    """Backward node id -> key of the card of the op (or folded module) that made it."""
    value_cards: dict[int, str] = {}
    """Value id -> key of the card that shows where it was made."""
    title: str = ""
    hidden: int = 0
    """Number of cards left out of it, see `gradient_graph`."""


class Rect(Struct, frozen=True, gc=False):
    """Top left corner and size, in scene units; y grows downwards."""

    x: float
    y: float
    width: float
    height: float


class Seat(NamedTuple):
    """Position of a card or frame in its frame, so that a later placement can preserve it.

    ``part`` numbers the connected components, ``line`` the lines of components, ``row`` the rows of
    the component; ``x`` (across the flow) and ``y`` (along it) lead from the frame's corner to the
    item's middle.
    """

    line: int
    part: int
    row: int
    x: float
    y: float


class Placement(Struct, frozen=True):
    """Geometry of a picture, in scene units.

    ``routes``: wire key -> points ``((x, y), ...)`` of a path of cubic Bezier curves: a start, then
    triples of control, control, end (straight pieces are cubics too). ``seats``: key of a card or
    frame -> its position in the frame around it.
    """

    cards: dict[str, Rect]
    frames: dict[str, Rect]
    routes: dict[str, tuple[tuple[float, float], ...]]
    width: float
    height: float
    seats: dict[str, Seat] = {}


class CardLook(Struct, frozen=True, gc=False):
    """State of a card at a position. ``gradient`` is the snapshot of what it received so far."""

    reached: bool = False
    active: Active = ""
    snapshot: int | None = None
    gradient: int | None = None
    shares: tuple[int, ...] = ()
    """Snapshots of the shares that arrived, in order of arrival (3 and 1 of 3 + 1 = 4)."""
    changed: bool = False
    """True once an update has changed the values of a leaf."""
    before: int | None = None
    """Snapshot before the first update of the scene, if ``changed``."""
    reset: Literal["", "none", "zeros"] = ""
    """*zeros* while ``.grad`` holds zeros after a reset, *none* at the event of a reset to None."""
    pending: bool = False
    """True while shares arrive whose sum is not complete."""
    returned: bool = False
    """True while ``gradient`` is what ``grad`` returned, which is not in a leaf's ``.grad``."""
    past: bool = False
    """True once a later pass has begun that does not reach it: ``gradient`` is an earlier one's."""
    run: int = -1
    """The pass of ``shares``."""
    failed: bool = False
    """True once the program has failed in this card."""
    added: int = 0
    """Number of passes whose gradients ``.grad`` of a leaf has added up since it was None."""
    version: int | None = None
    """Version of the card's memory after in-place ops that ran since the card was reached."""
    first_order: int = 0
    """Place in the order of the pass `ran` of the first node of the card that ran; 0 for none."""
    last_order: int = 0
    """The same of the last node, which is another for modules and ops of several nodes."""
    of: int = 0
    """Number of nodes that this pass runs."""
    visits: int = 0
    """Most runs of a node of the card so far, in all passes."""
    ran: int = -1
    """The latest pass that ran a node of the card."""
    inside: int = 0
    """Number of events after which a gradient of `Card.leaves` last changed; 0 for never."""


class WireLook(Struct, frozen=True, gc=False):
    """State of a wire at a position."""

    carried: bool = False
    """True once the value has passed forward."""
    share: int | None = None
    """Snapshot of the gradient that came back along it."""
    factor: str = ""
    """The local derivative as a label: ``× (1 − o²) = 0.5``; empty where it is not known."""
    active: Literal["", "forward", "backward"] = ""
    shares: tuple[int, ...] = ()
    """All shares of this pass; several where a folded module or a composite op uses the value
    more than once, and then ``share`` is None."""
    past: bool = False
    """True once a later pass has begun that does not use it."""
    run: int = -1
    """The pass of ``shares``."""


class Look(Struct, frozen=True):
    """State of all cards and wires at a position; missing keys are not reached."""

    cards: dict[str, CardLook]
    wires: dict[str, WireLook]
    line: int = 0
    """The source line that is playing; 0 for none."""
    phase: Active = ""
    caption: str = ""
    """Text of the event: ``AddBackward0 hands on its gradient``."""
