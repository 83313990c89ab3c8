"""Card colours by a property: value, gradient, memory, time, dtype, device or module.

A mode gives every card a `Tint`: a number on a scale or a group, and a text that says the same
without colour. Scales do not depend on the position: a colour means the same along the whole tape.
"""

import math
from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from msgspec import Struct

from gradscribe.engine.protocol.tape import Snapshot, Tape
from gradscribe.playback.graph.gradients.parameter_gradients import (
    GradientRange,
    ParameterGradients,
)
from gradscribe.playback.graph.picture import Card, CardLook
from gradscribe.playback.tape import saved_memory, snapshot_text
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr

Mode = Literal["", "value", "gradient", "kept", "time", "dtype", "device", "module"]
MODES: dict[Mode, str] = {
    "": tr("Role"),
    "value": tr("Value"),
    "gradient": tr("Gradient norm"),
    "kept": tr("Bytes kept for backward"),
    "time": tr("Time per op"),
    "dtype": tr("Dtype"),
    "device": tr("Device"),
    "module": tr("Module"),
}
"""Mode -> its label; the empty mode colours cards by their kind."""

DECADES = (-6, 2)
"""Exponents of the ends of the gradient scale (1e-6 to 1e2), the same for every run."""
VANISHING, EXPLODING = 10.0 ** DECADES[0], 10.0 ** DECADES[1]
"""Ends of the scale: a gradient norm below or above them is marked with an arrow."""
OUTSIDE = tr("outside of modules")

Scale = Literal["signed", "gradient", "amount", "groups"]


class Tint(Struct, frozen=True):
    """Colour of one card: ``share`` of the scale (-1 to 1, else 0 to 1) or a ``group``."""

    words: str
    scale: Scale
    share: float = 0.0
    group: int = 0
    alarm: bool = False
    """True where the number is far too big, far too small or not finite."""
    stated: Literal["", "gradient", "value"] = ""
    """Part of the card that writes the same number: the bubble of its gradient, or its value."""
    least: float | None = None
    """Share of the weakest parameter in a folded module, of whose strongest ``share`` is."""


class ColorLegend(Struct, frozen=True):
    """Legend of the colours: a bar with evenly spaced ticks, or the names of groups."""

    title: str
    scale: Scale
    ticks: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    note: str = ""


class Tinter(Protocol):
    """Protocol of objects that colour cards."""

    def tint(self, card: Card, look: CardLook | None) -> Tint | None:
        """Return the tint of a card at a position; None for no colour."""

    def key(self) -> ColorLegend:
        """Return the legend of the colours."""


class Coloring:
    """A mode applied to the cards of one picture."""

    def __init__(self, tape: Tape, cards: Sequence[Card], mode: Mode) -> None:
        self.mode = mode
        self._index = index_of(tape)
        self._cards = cards
        self._groups: dict[str, str] = {}
        self._names: dict[str, int] = {}
        self._largest = 0.0
        self._depth = 0
        self._parameters = ParameterGradients(self._index, cards)
        if mode == "value":
            sizes = (
                abs(x) for card in cards if (x := self._mean(self._own_snapshot(card))) is not None
            )
            self._largest = max(sizes, default=0.0)
        elif mode == "kept":
            self._largest = float(max((self._saved_bytes(card) for card in cards), default=0))
        elif mode == "time":
            self._largest = float(max((self._time(card) or 0 for card in cards), default=0))
        elif mode in ("dtype", "device", "module"):
            self._depth = self._distinguishing_depth()
            self._groups = {card.key: self._group(card) for card in cards}
            names = dict.fromkeys(name for name in self._groups.values() if name)
            self._names = {name: n for n, name in enumerate(names)}

    def tint(self, card: Card, look: CardLook | None) -> Tint | None:
        """Return the tint of a card at a position; None where it has no such property (yet)."""
        if self.mode == "value":
            reached = look is not None and look.reached
            at = look.snapshot if reached and look is not None else None
            return (
                self._value(at if at is not None else self._own_snapshot(card)) if reached else None
            )
        if self.mode == "gradient":
            if look is None:
                return None
            if self._parameters.are_known(card):
                found = self._parameters.at(card, look.inside)
                return self._range(found, self._parameters.starvation(card)) if found else None
            return None if look.gradient is None else self._gradient(look.gradient)
        if self.mode == "kept":
            size = self._saved_bytes(card)
            share = math.sqrt(size / self._largest) if self._largest else 0.0
            return Tint(formatting.size(size), "amount", share) if size else None
        if self.mode == "time":
            nanoseconds = self._time(card)
            share = math.sqrt(nanoseconds / self._largest) if nanoseconds and self._largest else 0.0
            return (
                None
                if nanoseconds is None
                else Tint(formatting.duration(nanoseconds), "amount", share)
            )
        name = self._groups.get(card.key, "")
        return Tint(name, "groups", group=self._names[name]) if name else None

    def key(self) -> ColorLegend:
        """Return the legend of the colours."""
        title = MODES[self.mode]
        if self.mode == "value":
            ends = (-1.0, -0.25, 0.0, 0.25, 1.0)
            ticks = tuple(formatting.trim_zeros(float(f"{self._largest * x:.3g}")) for x in ends)
            return ColorLegend(title, "signed", ticks, note=tr("of a tensor its mean"))
        if self.mode == "gradient":
            low, high = DECADES
            ticks = tuple(_power(low + (high - low) * n // 4) for n in range(5))
            note = tr("log scale · ↓ vanishing  ↑ exploding")
            if any(self._parameters.are_known(card) for card in self._cards):
                note += tr("\nfolded: its weakest parameter left, its strongest right")
            return ColorLegend(title, "gradient", ticks, note=note)
        if self.mode == "kept":
            ticks = tuple(formatting.size(round(self._largest * x)) for x in (0.0, 0.25, 1.0))
            return ColorLegend(title, "amount", ticks)
        if self.mode == "time":
            ticks = tuple(formatting.duration(self._largest * x) for x in (0.0, 0.25, 1.0))
            cpu = self._index.tape.device == "cpu"
            note = tr("the forward calls alone") if cpu else tr("until each call is launched")
            return ColorLegend(title, "amount", ticks, note=tr("{note} · measured once", note=note))
        return ColorLegend(title, "groups", groups=tuple(self._names))

    # Numbers

    def _own_snapshot(self, card: Card) -> int | None:
        return None if card.value is None else self._index.values[card.value].snapshot

    def _mean(self, number: int | None) -> float | None:
        """Return the mean of a snapshot; None where there is none or it is not finite."""
        mean = _mean(self._index.snapshot(number))
        return mean if mean is not None and math.isfinite(mean) else None

    def _value(self, number: int | None) -> Tint | None:
        snapshot = self._index.snapshot(number)
        mean = _mean(snapshot)
        if snapshot is None or mean is None:
            return None
        words = (
            formatting.number(mean)
            if snapshot.numel == 1
            else tr("mean {number}", number=formatting.number(mean))
        )
        stated: Literal["", "value"] = "value" if snapshot.numel == 1 else ""
        if not math.isfinite(mean):
            return Tint(words, "signed", alarm=True, stated=stated)
        size = min(1.0, math.sqrt(abs(mean) / self._largest)) if self._largest else 0.0
        return Tint(words, "signed", math.copysign(size, mean), stated=stated)

    def _gradient(self, number: int) -> Tint | None:
        snapshot = self._index.snapshot(number)
        norm = None if snapshot is None else snapshot_text.norm(snapshot)
        if norm is None:
            return None
        if not math.isfinite(norm):
            words = f"↑ {formatting.number(norm)}"
            return Tint(words, "gradient", 1.0, alarm=True, stated="gradient")
        sign = "↑ " if norm > EXPLODING else "↓ " if norm < VANISHING else ""
        words = _exponential(norm) if sign else formatting.number(norm)
        share = _on_decades(norm)
        return Tint(sign + words, "gradient", share, alarm=bool(sign), stated="gradient")

    def _range(self, found: GradientRange, starvation: float) -> Tint:
        """Return the tint of a folded module: from its weakest to its strongest parameter."""
        least, most = (_short(norm) for norm in (found.least, found.most))
        words = least if least == most else f"{least} … {most}"
        up = not found.most <= EXPLODING
        down = starvation > 0 or found.most < VANISHING
        sign = "↑ " if up else "↓ " if down else ""
        share = _on_decades(found.most)
        weakest = _on_decades(found.least)
        return Tint(sign + words, "gradient", share, alarm=up or down, least=weakest)

    def _saved_bytes(self, card: Card) -> int:
        """Return the bytes saved for backward by a card's ops; shared memory counts once."""
        nodes = self._index.nodes
        made = (
            nodes[node] for op in card.ops for node in self._index.op(op).nodes if node in nodes
        )
        return saved_memory.node_saved_bytes(*made)

    def _time(self, card: Card) -> int | None:
        """Return the nanoseconds of a card's ops; None where nothing was measured."""
        times = self._index.tape.times
        return sum(times[op] for op in card.ops) if card.ops and times else None

    # Groups

    def _group(self, card: Card) -> str:
        if self.mode == "module":
            path = self._path(card)
            if not path:
                return OUTSIDE if card.ops else ""
            return ".".join(path[: self._depth])
        if card.value is None:
            return ""
        value = self._index.values[card.value]
        return value.dtype if self.mode == "dtype" else value.device

    def _path(self, card: Card) -> tuple[str, ...]:
        """Return the names of the modules around a card, the outermost first."""
        call = card.call
        if call is None and card.ops:
            call = self._index.op(card.ops[0]).call
        return () if call is None else tuple(self._index.tape.calls[call].name.split("."))

    def _distinguishing_depth(self) -> int:
        """Return the length of the shortest path prefix at which two modules differ."""
        paths = [path for card in self._cards if (path := self._path(card))]
        for depth in range(1, max(map(len, paths), default=0) + 1):
            if len({path[:depth] for path in paths}) > 1 + (depth > 1):
                return depth
        return max(map(len, paths), default=0)


def _mean(snapshot: Snapshot | None) -> float | None:
    """Return the mean over all elements, of complex elements the mean modulus."""
    if snapshot is None or not snapshot.numel:
        return None
    if snapshot.mean is not None:
        return float(snapshot.mean)
    if snapshot.numel == 1:
        item = snapshot.item()
        return None if item is None else float(abs(item) if isinstance(item, complex) else item)
    array = snapshot.array()
    if array is None:
        return None
    with np.errstate(all="ignore"):
        return float(np.mean(np.abs(array) if array.dtype.kind == "c" else array, dtype="f8"))


def _on_decades(norm: float) -> float:
    low, high = DECADES
    if not math.isfinite(norm):
        return 1.0
    return 0.0 if norm <= 0 else min(1.0, max(0.0, (math.log10(norm) - low) / (high - low)))


def _exponential(norm: float) -> str:
    return f"{norm:.1e}".replace("-", formatting.MINUS) if norm else formatting.number(norm)


def _short(norm: float) -> str:
    """Return a norm with two digits: ``0.0031``, ``2.1e−7``; infinity as its sign."""
    if not math.isfinite(norm):
        return formatting.number(norm)
    if not norm or 1e-3 <= norm < 1e4:
        return f"{norm:.2g}"
    digits, _, exponent = f"{norm:.1e}".partition("e")
    return f"{digits}e{int(exponent)}".replace("-", formatting.MINUS)


def _power(exponent: int) -> str:
    return "1" if exponent == 0 else f"1e{exponent}".replace("-", formatting.MINUS)
