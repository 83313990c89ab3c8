"""Pictures made by hand for the tests of the graph view: no engine and no layout are needed."""

import numpy as np

from gradscribe.engine.protocol.tape import Snapshot, Tape, Value
from gradscribe.playback.graph.picture import (
    Card,
    CardLook,
    Frame,
    Look,
    Picture,
    Placement,
    Rect,
    Wire,
    WireLook,
)


class Maker:
    """Collects snapshots, cards and wires; `picture`, `placement` and `tape` hand them out."""

    def __init__(self):
        self.snapshots = []
        self.values = []
        self.cards = []
        self.wires = []
        self.frames = []
        self.rects = {}
        self.frame_rects = {}
        self.routes = {}

    def snapshot(self, numbers):
        """Keep numbers as float32 and return their index."""
        array = np.asarray(numbers, dtype="<f4")
        self.snapshots.append(Snapshot(array.shape, "float32", "<f4", array.tobytes()))
        return len(self.snapshots) - 1

    def card(self, key, kind, title, at, numbers=None, size=None, **rest):
        """Place a card with its middle at ``at``; its value is made of ``numbers``."""
        scalar = numbers is None or np.asarray(numbers).size == 1
        value = None
        if numbers is not None:
            index = self.snapshot(numbers)
            shape = self.snapshots[index].shape
            value = len(self.values) + 1
            role = kind if kind in ("parameter", "data", "constant") else "result"
            self.values.append(
                Value(
                    value, rest.get("name", title), shape, "float32", "cpu", True, role != "result",
                    0, index, role, value, value,
                )
            )  # fmt: skip
        default = (128, 38) if kind in ("parameter", "data", "constant") else (164, 58)
        width, height = size or default
        self.cards.append(
            Card(key, kind, title, value=value, scalar=scalar, width=width, height=height, **rest)
        )
        self.rects[key] = Rect(at[0] - width / 2, at[1] - height / 2, width, height)

    def frame(self, key, title, kind, rect, parent="", **rest):
        """Place an open module."""
        self.frames.append(Frame(key, len(self.frames), title, kind, parent=parent, **rest))
        self.frame_rects[key] = Rect(*rect)

    def wire(self, source, target, operand=0, of=1, **rest):
        """Draw a wire from the bottom of one card to the top of another."""
        a, b = self.rects[source], self.rects[target]
        x0, y0 = a.x + a.width / 2, a.y + a.height
        x1, y1 = b.x + b.width * (operand + 1) / (of + 1), b.y
        key = f"{source}>{target}:{operand}"
        self.wires.append(Wire(key, source, target, operand, **rest))
        bend = (y1 - y0) * 0.55
        self.routes[key] = ((x0, y0), (x0, y0 + bend), (x1, y1 - bend), (x1, y1))
        return key

    @property
    def picture(self):
        return Picture(tuple(self.cards), tuple(self.wires), tuple(self.frames))

    @property
    def placement(self):
        rects = [*self.rects.values(), *self.frame_rects.values()]
        return Placement(
            self.rects,
            self.frame_rects,
            self.routes,
            max((r.x + r.width for r in rects), default=0),
            max((r.y + r.height for r in rects), default=0),
        )

    @property
    def tape(self):
        return Tape(snapshots=tuple(self.snapshots), values=tuple(self.values))

    def reached(self, **shown):
        """Return a look in which every card is reached; ``shown`` are cards' other looks."""
        cards = {card.key: CardLook(reached=True) for card in self.cards}
        return Look(cards | shown, {})


def neuron():
    """Return mock 1: a neuron whose addition hands on its gradient; (maker, look)."""
    m = Maker()
    for key, kind, x, number in (
        ("x1", "data", 64, 2.0), ("w1", "parameter", 233, -3.0),
        ("x2", "data", 402, 0.0), ("w2", "parameter", 571, 1.0),
    ):  # fmt: skip
        m.card(key, kind, key, (x, 19), number)
    m.card("u", "op", "mul", (215, 116), -6.0, name="u", symbol="×")
    m.card("v", "op", "mul", (420, 116), 0.0, name="v", symbol="×")
    m.card("s", "op", "add", (318, 223), -6.0, name="s", symbol="+")
    m.card("b", "parameter", "b", (505, 223), 6.8814)
    m.card("n", "op", "add", (318, 329), 0.8814, name="n", symbol="+")
    m.card("o", "op", "tanh", (318, 436), 0.7071, name="o", symbol="tanh")
    m.card("t", "constant", "t", (505, 436), 0.5)
    m.card("d", "op", "sub", (318, 543), 0.2071, name="d", symbol="−")
    m.card("L", "loss", "square", (318, 650), 0.0429, name="L", symbol="x²")
    m.wire("x1", "u", 0, 2, dashed=True)
    m.wire("w1", "u", 1, 2)
    m.wire("x2", "v", 0, 2, dashed=True)
    m.wire("w2", "v", 1, 2)
    m.wire("u", "s", 0, 2)
    m.wire("v", "s", 1, 2)
    sn, bn = m.wire("s", "n", 0, 2), m.wire("b", "n", 1, 2)
    no, od = m.wire("n", "o"), m.wire("o", "d", 0, 2)
    m.wire("t", "d", 1, 2, dashed=True)
    dl = m.wire("d", "L")
    arrived = {"L": 1.0, "d": 0.4142, "o": 0.4142, "n": 0.2071}
    gradient = {key: m.snapshot(x) for key, x in arrived.items()}
    shown = {key: CardLook(reached=True, gradient=at) for key, at in gradient.items()}
    shown["n"] = CardLook(reached=True, active="backward", gradient=gradient["n"])
    wires = {
        sn: WireLook(True, gradient["n"], "× 1", "backward"),
        bn: WireLook(True, gradient["n"], "× 1", "backward"),
        no: WireLook(True, gradient["n"], "× (1−o²) = 0.500"),
        od: WireLook(True, gradient["o"], "× 1"),
        dl: WireLook(True, gradient["d"], "× 2d = 0.414"),
    }
    return m, Look(m.reached(**shown).cards, wires, 6, "backward", "AddBackward0 hands on")


def network():
    """Return an MLP with a frame in a frame, thumbnails and a folded module; (maker, look)."""
    m, rng = Maker(), np.random.default_rng(0)
    m.frame("net", "net", "Sequential", (0, 80, 340, 420), note="105 parameters")
    m.frame("0", "0", "Linear(2 → 8)", (12, 112, 316, 178), parent="net", note="24 parameters")
    m.card("x", "data", "x", (170, 24), rng.normal(size=(16, 2)), (150, 48), note="batch 413")
    m.card(
        "weight", "parameter", "weight", (90, 166), rng.normal(size=(8, 2)), (144, 48), frame="0"
    )
    m.card("bias", "parameter", "bias", (250, 166), rng.normal(size=8), (140, 48), frame="0")
    m.card(
        "linear", "op", "linear", (120, 250), rng.normal(size=(16, 8)), (184, 58),
        note="x Wᵀ + b", frame="0", symbol="Wx",
    )  # fmt: skip
    m.card(
        "tanh", "op", "tanh", (170, 350), rng.normal(size=(16, 8)), (184, 58),
        symbol="tanh", frame="net",
    )  # fmt: skip
    m.card(
        "2", "module", "2: Linear", (170, 440), None, (184, 56),
        note="8 → 8 · 72 params", frame="net",
    )  # fmt: skip
    m.card("loss", "loss", "bce_with_logits", (170, 550), 0.69, (200, 58), symbol="ℒ", name="loss")
    m.wire("x", "linear", 0, 3, shape="16 × 2", dashed=True)
    m.wire("weight", "linear", 1, 3, shape="8 × 2")
    m.wire("bias", "linear", 2, 3, shape="8")
    active = m.wire("linear", "tanh", shape="16 × 8")
    m.wire("tanh", "2", shape="16 × 8")
    m.wire("2", "loss", shape="16 × 8")
    cards = {key: CardLook(reached=True) for key in ("x", "weight", "bias", "linear")}
    cards["tanh"] = CardLook(reached=True, active="forward")
    return m, Look(cards, {active: WireLook(active="forward")}, 3, "forward")


def grid(count, columns=25):
    """Return many scalar cards in rows, each wired to two above it."""
    m = Maker()
    for n in range(count):
        row, column = divmod(n, columns)
        m.card(
            f"c{n}", "op", "add", (82 + column * 196, 29 + row * 106), float(n % 17 - 8), symbol="+"
        )
        if row:
            m.wire(f"c{n - columns}", f"c{n}", 0, 2)
            if column:
                m.wire(f"c{n - columns - 1}", f"c{n}", 1, 2)
    return m
