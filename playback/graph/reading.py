"""Texts and numbers of a card or wire at a position, before anything is painted."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gradscribe.engine.protocol.tape import Snapshot, Tape, Value
from gradscribe.playback.graph import number_grid
from gradscribe.playback.graph.coloring import Tint
from gradscribe.playback.graph.picture import Card, CardLook, WireLook
from gradscribe.playback.tape import snapshot_text
from gradscribe.playback.text import formatting
from gradscribe.playback.text.formatting import trim_zeros
from gradscribe.playback.translation import ngettext, tr

WAITING = tr("not reached yet")
NABLA = "\N{NABLA}"
EN_DASH = "\N{EN DASH}"

MAX_TERMS = 3
"""Largest number of shares in a sum that is written out."""

LEAVES = ("parameter", "data", "constant")

State = Literal["waiting", "reached"]
Active = Literal["", "forward", "backward", "update"]


@dataclass(frozen=True, eq=False)
class CardReading:
    """Content of a card at a position. Empty texts are not shown."""

    state: State
    number: str = ""
    """The value of a scalar; of anything else empty."""
    share: float | None = None
    """The scalar relative to the picture's largest, -1 to 1; None for no stripe."""
    shape: str = ""
    grid: number_grid.Grid | None = None
    gradient: str = ""
    short_gradient: str = ""
    """The bubble's text where there is no space for all of ``gradient``; else empty."""
    shift: float = 0.0
    """Distance of the bubble to the right of its usual place."""
    bad: str = ""
    """``NaN``, ``3 NaN``, ``∞`` where the value is not all finite; else empty."""
    bad_gradient: bool = False
    active: Active = ""
    changed: bool = False
    failed: str = ""
    """The exception raised here that ended the program."""
    update: str = ""
    """``2.0 → 0.8`` where an update changed a leaf; of a tensor the size of the change."""
    tag: str = ""
    """The small tag below the card: shared memory, versions, repeats."""
    order: str = ""
    """``#3 · 1×``: place in the order of its pass, and visits so far; empty before it ran."""
    pending: bool = False
    """True while the sum in ``gradient`` is being accumulated."""
    past: bool = False
    """True if ``gradient`` belongs to an earlier pass than the latest."""
    reset: Literal["", "none", "zeros"] = ""
    """Set if ``gradient`` was not computed by backward: it was set to None or to zeros."""
    tint: Tint | None = None
    """Tint of the colour mode; None without a mode, and where the mode has none."""
    tinted: bool = False
    """True while a colour mode is on: cards without a tint are left without a colour."""


def has_gradient(look: CardLook) -> bool:
    """Return whether a card with this look has a gradient to show, finished or pending."""
    on_its_way = look.pending and bool(look.shares)
    return on_its_way or look.gradient is not None or look.reset in ("none", "zeros")


class CardReader:
    """Read a tape for the painters; results are cached, because a tape never changes."""

    def __init__(self, tape: Tape, cards: tuple[Card, ...] = ()) -> None:
        self.tape = tape
        self._values = {value.id: value for value in tape.values}
        self._norms: dict[int, float | None] = {}
        self._grids: dict[int, number_grid.Grid | None] = {}
        self._moves: dict[tuple[int, int], float | None] = {}
        self.scale = self._scale(cards)

    def _scale(self, cards: tuple[Card, ...]) -> float:
        """Return the largest size of the scalars shown, so that stripes compare across cards."""
        largest = 0.0
        for card in cards:
            value = self.value(card)
            x = self.scalar(value.snapshot) if value else None
            if x is not None and np.isfinite(x):
                largest = max(largest, abs(x))
        return largest

    def value(self, card: Card) -> Value | None:
        """Return the value whose numbers the card shows."""
        return None if card.value is None else self._values.get(card.value)

    def snapshot(self, index: int | None) -> Snapshot | None:
        """Return a snapshot by its index; None for None and for indices past the tape's end."""
        if index is None or not 0 <= index < len(self.tape.snapshots):
            return None
        return self.tape.snapshots[index]

    def number(self, index: int | None) -> float | int | bool | complex | None:
        """Return the number of a one-element snapshot, else None."""
        snapshot = self.snapshot(index)
        return None if snapshot is None else snapshot.item()

    def scalar(self, index: int | None) -> float | None:
        """Return `number` as a float; of a complex number its size."""
        x = self.number(index)
        return None if x is None else abs(x) if isinstance(x, complex) else float(x)

    def norm(self, index: int) -> float | None:
        """Return the 2-norm of a snapshot, torch's own where it was recorded."""
        if index not in self._norms:
            snapshot = self.snapshot(index)
            self._norms[index] = snapshot_text.norm(snapshot) if snapshot else None
        return self._norms[index]

    def _norm_text(self, index: int) -> str:
        """Return the norm of a snapshot as text; a question mark if it is hidden."""
        snapshot = self.snapshot(index)
        if snapshot is not None and snapshot.is_hidden:
            return snapshot_text.UNKNOWN
        return formatting.number(self.norm(index))

    def grid(self, index: int) -> number_grid.Grid | None:
        """Return a snapshot as a matrix small enough for a thumbnail."""
        if index not in self._grids:
            snapshot = self.snapshot(index)
            whole = number_grid.grid_of(snapshot) if snapshot else None
            self._grids[index] = None if whole is None else number_grid.thin(whole, 40, 88)
        return self._grids[index]

    def bad(self, index: int | None) -> str:
        """Return the count of NaN and infinities in a snapshot as text; empty for none."""
        snapshot = self.snapshot(index)
        if snapshot is None:
            return ""
        nan, inf = snapshot.nan, snapshot.inf
        array = snapshot.array()
        if array is not None and array.dtype.kind in "fc":
            nan, inf = int(np.isnan(array).sum()), int(np.isinf(array).sum())
        if snapshot.numel == 1:
            return "NaN" if nan else "∞" if inf else ""
        return " · ".join(f"{n:,} {word}" for n, word in ((nan, "NaN"), (inf, "∞")) if n)

    def card(self, card: Card, look: CardLook | None) -> CardReading:
        """Return the reading of ``card``; without a look it has not been reached."""
        value = self.value(card)
        shape = formatting.shape(value.shape) if value is not None and value.shape else ""
        if look is None or not look.reached:
            active = look.active if look else ""
            return CardReading(
                "waiting",
                shape=shape,
                active=active,
                gradient=self._gradient(look),
                tag=card.mark,
                order=order_text(look),
            )
        index = look.snapshot
        if index is None and value is not None:
            index = value.snapshot
        return CardReading(
            "reached",
            number=self._number(card, index),
            share=self._share(self.scalar(index)) if card.scalar else None,
            shape=shape,
            grid=None if card.scalar or index is None else self.grid(index),
            gradient=self._gradient(look),
            bad=self.bad(index),
            bad_gradient=bool(self.bad(look.gradient)),
            active=look.active,
            changed=look.changed,
            failed=card.failed if look.failed else "",
            update=self._update(look),
            tag=_tag(card, look),
            order=order_text(look),
            pending=look.pending,
            past=look.past,
            reset=look.reset if look.gradient is None else "",
        )

    def _number(self, card: Card, index: int | None) -> str:
        if not card.scalar:
            return ""
        x = self.number(index)
        if x is None:
            return card.literal
        return _leaf_number(x) if card.kind in LEAVES else formatting.number(x)

    def _share(self, x: float | None) -> float | None:
        if x is None or not np.isfinite(x):
            return None
        return max(-1.0, min(1.0, x / self.scale)) if self.scale else 0.0

    def _gradient(self, look: CardLook | None) -> str:
        """Return the bubble's text: the gradient, or the sum where several shares arrived."""
        if look is None:
            return ""
        parts = [self.number(share) for share in look.shares]
        if look.pending and look.shares:
            if None in parts or len(parts) > MAX_TERMS:
                return NABLA + " … · " + ngettext("{count:,} share", "{count:,} shares", len(parts))
            return f"{_sum(parts)} + …"
        if look.gradient is None:
            return {"": "", "none": "None", "zeros": "0"}[look.reset]
        whole = self.number(look.gradient)
        several = tr(" · {parts_count} shares", parts_count=len(parts)) if len(parts) > 1 else ""
        if whole is None:
            return f"{NABLA} {self._norm_text(look.gradient)}{several}"
        if 2 <= len(parts) <= MAX_TERMS and _adds_up(parts, whole):
            return f"{_sum(parts)} = {trim_zeros(whole)}"
        return formatting.number(whole) + (several if len(parts) > MAX_TERMS else "")

    def _update(self, look: CardLook) -> str:
        """Return ``2.0 → 0.8``; for a tensor the norm of the difference, where both are known."""
        if not look.changed or look.before is None or look.snapshot is None:
            return ""
        old, new = self.number(look.before), self.number(look.snapshot)
        if old is not None and new is not None:
            before, after = _leaf_number(old), _leaf_number(new)
            if old == new:
                return tr("unchanged")
            if before == after:
                # Nothing of the change is left in so few digits.
                return tr("moved by {number}", number=formatting.number(abs(new - old)))
            return f"{before} → {after}"
        pair = (look.before, look.snapshot)
        if pair not in self._moves:
            first, second = self.snapshot(pair[0]), self.snapshot(pair[1])
            self._moves[pair] = snapshot_text.distance(first, second)
        moved = self._moves[pair]
        if moved is None:
            return tr("updated")
        if not moved:
            return tr("unchanged")
        return tr("moved by {number}", number=formatting.number(moved))

    def label(self, look: WireLook, several: bool) -> str:
        """Return the label of the gradient on a wire; empty where none came back.

        ``several``: more than one share arrives at the wire's source, so that the share itself is
        written, not only the factor; a single share stands in the source's bubble anyway, and is
        written while it is on its way.
        """
        if look.past:
            return ""
        if len(look.shares) > 1:
            parts = [self.number(share) for share in look.shares]
            written = len(parts) <= MAX_TERMS and None not in parts
            return (
                _sum(parts)
                if written
                else ngettext("{count:,} share", "{count:,} shares", len(parts))
            )
        if look.share is None:
            return look.factor if look.active == "backward" else ""
        x = self.number(look.share)
        if not look.factor or x is None:
            # Once it has arrived, a single share is the number in the source's bubble.
            if not several and look.active != "backward":
                return ""
            return trim_zeros(x) if x is not None else f"{NABLA} {self._norm_text(look.share)}"
        return f"{look.factor} → {trim_zeros(x)}" if several else look.factor


def order_text(look: CardLook | None) -> str:
    """Return ``#3 · 1×``, or ``#3–6 · 1×`` for a card of several nodes; empty before they ran."""
    if look is None or not look.visits:
        return ""
    last = f"{EN_DASH}{look.last_order:,}" if look.last_order != look.first_order else ""
    return f"#{look.first_order:,}{last} · {look.visits:,}×"


def _tag(card: Card, look: CardLook) -> str:
    """Return a card's mark, the current version of its memory if newer, and the passes added up."""
    newer = tr("now v{version}", version=look.version) if look.version else ""
    added = tr("grad of {added} passes", added=look.added) if look.added > 1 else ""
    return " · ".join(filter(None, (card.mark, newer, added)))


def _leaf_number(x: float | int | bool | complex) -> str:
    """Format a leaf's number like Python: without needless zeros, but a float as a float."""
    digits = trim_zeros(x)
    whole = isinstance(x, float) and digits.lstrip(formatting.MINUS).isdigit()
    return f"{digits}.0" if whole else digits


def _adds_up(parts: list[float | int | bool | complex | None], whole: object) -> bool:
    """Return whether the parts add up to the whole, so that no wrong sum is ever written."""
    if not isinstance(whole, float | int) or not all(isinstance(x, float | int) for x in parts):
        return False
    total = sum(float(x) for x in parts if isinstance(x, float | int))
    return bool(np.isclose(total, whole, rtol=1e-4, atol=1e-7))


def _sum(parts: list[float | int | bool | complex | None]) -> str:
    """Return a sum as ``48 + 16`` or ``48 − 16``."""
    terms = [trim_zeros(x) for x in parts if x is not None]
    return terms[0] + "".join(
        f" {formatting.MINUS} {term[1:]}" if term.startswith(formatting.MINUS) else f" + {term}"
        for term in terms[1:]
    )
