"""Pictures written by hand, and what must hold for every placement of a picture."""

from itertools import combinations, pairwise

import pytest

from gradscribe.playback.graph.picture import Card, CardKind, Frame, Picture, Placement, Rect, Wire


class Draft:
    """A picture being written down: leaves, ops and modules by name, in order of execution."""

    def __init__(self):
        self.cards: list[Card] = []
        self.wires: list[Wire] = []
        self.frames: list[Frame] = []
        self.frame = ""

    def leaf(self, key: str, kind: CardKind = "parameter", width: float = 128.0) -> str:
        size = {"width": width, "height": 38.0}
        self.cards.append(Card(key=key, kind=kind, title=key, frame=self.frame, **size))
        return key

    def op(self, key: str, *inputs: str | tuple[str, int], kind: CardKind = "op") -> str:
        self.cards.append(Card(key=key, kind=kind, title=key, frame=self.frame))
        for place_, end in enumerate(inputs):
            source, output = end if isinstance(end, tuple) else (end, 0)
            wire = f"{source}-{key}-{place_}"
            self.wires.append(Wire(wire, source, key, operand=place_, output=output))
        return key

    def open(self, key: str) -> None:
        self.frames.append(Frame(key, call=0, title=key, kind="Module", parent=self.frame))
        self.frame = key

    def close(self) -> None:
        self.frame = next(frame.parent for frame in self.frames if frame.key == self.frame)

    def linear(self, key: str, x: str) -> str:
        self.open(key)
        out = self.op(f"{key}.out", x, self.leaf(f"{key}.weight"), self.leaf(f"{key}.bias"))
        self.close()
        return out

    def picture(self) -> Picture:
        return Picture(tuple(self.cards), tuple(self.wires), tuple(self.frames))


def neuron() -> Picture:
    d = Draft()
    for key in ("x1", "x2", "w1", "w2", "b"):
        d.leaf(key)
    n = d.op("n", d.op("s", d.op("u", "x1", "w1"), d.op("v", "x2", "w2")), "b")
    d.op("L", d.op("d", d.op("o", n), d.leaf("t", "constant")), kind="loss")
    return d.picture()


def residual(extra: bool = False) -> Picture:
    d = Draft()
    x = d.leaf("x", "data")
    for block in range(3):
        d.open(f"block{block}")
        h = d.linear(f"{block}.first", x)
        h = d.op(f"{block}.relu", h)
        if extra and block == 1:
            h = d.op("inserted", h, d.leaf("fresh"))
        h = d.linear(f"{block}.second", h)
        x = d.op(f"{block}.add", x, h)
        d.close()
    return d.picture()


def scalar_mlp(inputs: int, *sizes: int, extra: bool = False) -> Picture:
    d = Draft()
    xs = [d.leaf(f"x{k}", "data") for k in range(inputs)]
    for layer, size in enumerate((*sizes, 1)):
        ys = []
        for unit in range(size):
            name = f"{layer}.{unit}"
            total = ""
            for k, x in enumerate(xs):
                product = d.op(f"{name}.mul{k}", d.leaf(f"{name}.w{k}"), x)
                total = d.op(f"{name}.add{k}", total, product) if total else product
            total = d.op(f"{name}.add", total, d.leaf(f"{name}.b"))
            if extra and name == "1.1":
                total = d.op("inserted", total, d.leaf("fresh"))
            ys.append(d.op(f"{name}.tanh", total))
        xs = ys
    d.op("loss", d.op("diff", xs[0], d.leaf("target", "constant")), kind="loss")
    return d.picture()


def lstm(steps: int) -> Picture:
    d = Draft()
    h, c = d.leaf("h0", "data"), d.leaf("c0", "data")
    d.leaf("W")
    d.leaf("U")
    for t in range(steps):
        gates = d.op(f"{t}.add", d.op(f"{t}.xW", d.leaf(f"x{t}"), "W"), d.op(f"{t}.hU", h, "U"))
        chunk = d.op(f"{t}.chunk", gates)
        i, f, g, o = (d.op(f"{t}.{name}", (chunk, k)) for k, name in enumerate("ifgo"))
        c = d.op(f"{t}.c", d.op(f"{t}.fc", f, c), d.op(f"{t}.ig", i, g))
        h = d.op(f"{t}.h", o, d.op(f"{t}.tanh", c))
    d.op("loss", h, kind="loss")
    return d.picture()


def centre(placement: Placement, key: str) -> float:
    rect = placement.cards[key]
    return rect.x + rect.width / 2


def overlap(a: Rect, b: Rect) -> bool:
    return (
        a.x < b.x + b.width - 1e-6
        and b.x < a.x + a.width - 1e-6
        and a.y < b.y + b.height - 1e-6
        and b.y < a.y + a.height - 1e-6
    )


def holds(outer: Rect, inner: Rect, pad: float) -> bool:
    return (
        inner.x >= outer.x + pad - 1e-6
        and inner.y >= outer.y + pad - 1e-6
        and inner.x + inner.width <= outer.x + outer.width - pad + 1e-6
        and inner.y + inner.height <= outer.y + outer.height - pad + 1e-6
    )


def samples(route: tuple[tuple[float, float], ...]) -> list[tuple[float, float]]:
    """Points along a path of cubics, ends of the path left out."""
    points = []
    for start in range(0, len(route) - 1, 3):
        corners = route[start : start + 4]
        for step in range(17):
            t = step / 16
            shares = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            points.append(
                tuple(
                    sum(s * c[axis] for s, c in zip(shares, corners, strict=True))
                    for axis in (0, 1)
                )
            )
    return points[1:-1]


def around(picture: Picture, key: str) -> list[str]:
    """The frames around a card or frame, innermost first."""
    parents = {frame.key: frame.parent for frame in picture.frames}
    parents |= {card.key: card.frame for card in picture.cards}
    found = []
    while parents[key]:
        key = parents[key]
        found.append(key)
    return found


def assert_sound(picture: Picture, placement: Placement) -> None:
    """All that must hold for every picture with the flow downwards."""
    cards, frames = placement.cards, placement.frames
    assert list(cards) == [card.key for card in picture.cards]
    assert set(frames) == {frame.key for frame in picture.frames}
    assert set(placement.routes) == {wire.key for wire in picture.wires}
    whole = Rect(0.0, 0.0, placement.width, placement.height)
    for card in picture.cards:
        assert (cards[card.key].width, cards[card.key].height) == (card.width, card.height)
        assert holds(whole, cards[card.key], 8.0)
    for a, b in combinations(cards, 2):
        assert not overlap(cards[a], cards[b]), (a, b)
    for frame in picture.frames:
        assert holds(whole, frames[frame.key], 8.0)
        for key, rect in (*cards.items(), *frames.items()):
            if frame.key in around(picture, key):
                assert holds(frames[frame.key], rect, 14.0), (frame.key, key)
                assert rect.y >= frames[frame.key].y + 36.0 - 1e-6
            elif key != frame.key and key not in around(picture, frame.key):
                assert not overlap(frames[frame.key], rect), (frame.key, key)
    assert_routes_sound(picture, placement)


def assert_routes_sound(picture: Picture, placement: Placement) -> None:
    boxes = {**placement.cards, **placement.frames}
    for wire in picture.wires:
        route = placement.routes[wire.key]
        source, target = placement.cards[wire.source], placement.cards[wire.target]
        assert len(route) >= 4
        assert len(route) % 3 == 1
        (x0, y0), (x1, y1) = route[0], route[-1]
        assert y0 == pytest.approx(source.y + source.height)
        assert source.x < x0 < source.x + source.width
        assert y1 == pytest.approx(target.y)
        assert target.x < x1 < target.x + target.width
        assert route[1][0] == pytest.approx(x0)
        assert route[-2][0] == pytest.approx(x1)
        assert route[1][1] > y0
        assert route[-2][1] < y1
        own = {*around(picture, wire.source), *around(picture, wire.target)}
        foreign = [rect for key, rect in boxes.items() if key not in own]
        for x, y in samples(route):
            for rect in foreign:
                inside_x = rect.x + 0.01 < x < rect.x + rect.width - 0.01
                assert not (inside_x and rect.y + 0.01 < y < rect.y + rect.height - 0.01), wire.key


def assert_operands_in_order(picture: Picture, placement: Placement) -> None:
    arriving: dict[str, list[Wire]] = {}
    for wire in picture.wires:
        arriving.setdefault(wire.target, []).append(wire)
    for wires in arriving.values():
        ordered = sorted(wires, key=lambda wire: wire.operand)
        ports = [placement.routes[wire.key][-1][0] for wire in ordered]
        assert all(left < right for left, right in pairwise(ports))
