"""Differences between two runs as plain data, and two snapshots' difference as text."""

from operator import attrgetter
from typing import Literal

import numpy as np
from msgspec import Struct

from gradscribe.engine.protocol.tape import Snapshot
from gradscribe.playback.tape import snapshot_text
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, tr

Kind = Literal["value", "gradient", "op", "setting", "left", "right", "left fails", "right fails"]
"""*op*: another op in its place. *setting*: the same op or step with another argument. *left*,
*right*: an action that only this run has. *fails*: the program of this run ended early."""
_summary = attrgetter("mean", "std", "min", "max", "nan", "inf", "thumb")


class Difference(Struct, frozen=True):
    """A difference: values (ids) on the left and the right, None where a side has no value."""

    kind: Kind
    name: str
    words: str
    left: int | None
    right: int | None


class Cause(Struct, frozen=True):
    """Something that differs by itself, and the differences that follow from it.

    ``lines``: of the left and the right program, 0 where unknown. ``path``: the module it ran in.
    ``differences``: those of all places of the same kind on the same lines, the first one first.
    ``times``: number of such places, ``paths``: number of modules in which they are.
    ``leaf``: leaves that differ, made on the same lines.
    """

    words: str
    lines: tuple[int, int]
    path: str
    differences: tuple[Difference, ...]
    following: tuple[Difference, ...]
    times: int = 1
    paths: int = 1
    leaf: bool = False

    @property
    def kind(self) -> Kind:
        """Kind of the first difference."""
        return self.differences[0].kind

    def title(self) -> str:
        """Return the cause in a line: ``line 108: log → logsumexp in h.0.attn``."""
        left, right = self.lines
        lines = f"{left} → {right}" if left and right and left != right else str(left or right)
        text = (
            tr("line {lines}: {words}", lines=lines, words=self.words)
            if left or right
            else self.words
        )
        text += tr(" in {path}", path=self.path) if self.path else ""
        if self.paths > 1:
            more = self.paths - 1
            return ngettext(
                "{text} and {count:,} other module",
                "{text} and {count:,} other modules",
                more,
                text=text,
            )
        if self.times == 1:
            return text
        if self.leaf:
            return tr(
                "{text} and {others}",
                text=text,
                others=ngettext("{count:,} other", "{count:,} others", self.times - 1),
            )
        return tr("{text} · {times:,} times", text=text, times=self.times)

    def consequence(self, *, failures: bool = True) -> str:
        """Return what follows in a line; empty where nothing does."""
        counts = [
            formatting.count(len(group.differences), group.noun)
            for group in self.groups()
            if group.verb == "differ"
        ]
        parts = [group.text() for group in self.groups() if failures and not group.noun]
        if counts:
            single = len(counts) == 1 and counts[0].startswith("1 ")
            verb = "differs" if single else "differ"
            parts.append(
                tr("{join} {verb} because of it", join=tr(" and ").join(counts), verb=verb)
            )
        parts += [group.text() for group in self.groups() if group.noun and group.verb != "differ"]
        return " · ".join(parts)

    def groups(self) -> tuple["Following", ...]:
        """Return what follows, by kind: failures, gradients, values, ops."""
        return tuple(
            Following(noun, verb, found)
            for kinds, noun, verb in _FOLLOWING
            if (found := tuple(one for one in self.following if one.kind in kinds))
        )


class Following(Struct, frozen=True):
    """Differences of a kind that follow from the same cause."""

    noun: str
    verb: str
    differences: tuple[Difference, ...]

    def text(self) -> str:
        """Return ``1,142 gradients differ because of it``."""
        if not self.noun:
            first = self.differences[0]
            return tr("the {kind} because of it: {joined}", kind=first.kind, joined=_joined(first))
        count = len(self.differences)
        verb, _, rest = self.verb.partition(" ")
        verb = verb if count > 1 else _SINGULAR[verb]
        words = " ".join(filter(None, (verb, rest)))
        text = tr(
            "{count} {words} because of it", count=formatting.count(count, self.noun), words=words
        )
        return text if count > 1 else f"{text}: {_joined(self.differences[0])}"


_SINGULAR = {"differ": "differs", "run": "runs"}
_FOLLOWING: tuple[tuple[tuple[Kind, ...], str, str], ...] = (
    (("left fails",), "", ""),
    (("right fails",), "", ""),
    (("gradient",), "gradient", "differ"),
    (("value", "op", "setting"), "value", "differ"),
    (("left",), "call", tr("run on the left only")),
    (("right",), "call", tr("run on the right only")),
)


def _joined(difference: Difference) -> str:
    return " · ".join(filter(None, (difference.name, difference.words)))


def words(a: Snapshot | None, b: Snapshot | None) -> str:
    """Return the difference of two snapshots as text; empty where they are equal to the bit."""
    if a is None or b is None:
        if a is b:
            return ""
        return f"{snapshot_text.value(a) or 'none'} → {snapshot_text.value(b) or 'none'}"
    if a.dtype != b.dtype:
        return f"{a.dtype} → {b.dtype}"
    if a.shape != b.shape:
        return f"{formatting.shape(a.shape)} → {formatting.shape(b.shape)}"
    left, right = a.array(), b.array()
    if left is None or right is None:
        return "" if _summary(a) == _summary(b) else _summaries(a, b)
    if left.tobytes() == right.tobytes():
        return ""
    if left.size == 1:
        texts = formatting.number(a.item()), formatting.number(b.item())
        if texts[0] != texts[1]:
            return " → ".join(texts)
    return _arrays(left, right)


def _summaries(a: Snapshot, b: Snapshot) -> str:
    """Return the difference of two tensors of which only statistics are on the tape."""
    parts = _special("NaN", a.nan, b.nan, a.numel) + _special("∞", a.inf, b.inf, a.numel)
    if parts and (a.nan or b.nan or a.inf or b.inf):
        return " · ".join(parts)
    return tr(
        "norm {number} → {number_2}",
        number=formatting.number(a.norm),
        number_2=formatting.number(b.norm),
    )


def _arrays(left: np.ndarray, right: np.ndarray) -> str:
    """Return how far two arrays are apart, with NaN and infinities counted and left out."""
    wide = "c16" if left.dtype.kind == "c" else "f8"
    one, other = left.astype(wide).ravel(), right.astype(wide).ravel()
    parts: list[str] = []
    for name, test in (("NaN", np.isnan), ("∞", np.isinf)):
        parts += _special(name, int(test(one).sum()), int(test(other).sum()), one.size)
    both = np.isfinite(one) & np.isfinite(other)
    with np.errstate(all="ignore"):
        distance = float(np.linalg.norm(other[both] - one[both]))
    if distance or not parts:
        rest = "" if both.all() else tr("the others ")
        parts.append(
            tr("{rest}apart by {number}", rest=rest, number=formatting.number(distance))
            if distance
            else ""
        )
    return " · ".join(filter(None, parts)) or _elsewhere(one, other)


def _special(name: str, left: int, right: int, count: int) -> list[str]:
    """Return the numbers of NaN or infinities on both sides, where they differ."""
    return (
        [
            tr(
                "{left:,} → {right:,} of {count:,} {name}",
                left=left,
                right=right,
                count=count,
                name=name,
            )
        ]
        if left != right
        else []
    )


def _elsewhere(one: np.ndarray, other: np.ndarray) -> str:
    """Return the difference of arrays whose finite numbers are the same."""
    if not np.array_equal(np.isnan(one), np.isnan(other)):
        return tr("NaN at other places")
    if not np.array_equal(one, other, equal_nan=True):
        return tr("∞ at other places")
    return tr("only the sign of zeros or the bits of NaN differ")
