"""The score of gradients found by hand: for each kind of op, the number at the first try."""

import msgspec
from msgspec import Struct


class KindScore(Struct, frozen=True):
    """Numbers of gradients through one kind of op: found at once, found later, or shown."""

    first: int = 0
    later: int = 0
    shown: int = 0

    @property
    def total(self) -> int:
        """Number of gradients that are done."""
        return self.first + self.later + self.shown


Score = dict[str, KindScore]


def with_result(score: Score, kind: str, outcome: str) -> Score:
    """Return the score with one more gradient: ``first``, ``later`` or ``shown``."""
    known = score.get(kind, KindScore())
    counts = {name: getattr(known, name) for name in ("first", "later", "shown")}
    counts[outcome] += 1
    return {**score, kind: KindScore(**counts)}


def encode(score: Score) -> str:
    """Return the score as JSON."""
    return msgspec.json.encode(score).decode()


def decode(text: str) -> Score:
    """Return the score of a JSON text; an empty one if it is damaged."""
    try:
        found = msgspec.json.decode(text, type=Score)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}
    return {kind: row for kind, row in found.items() if min(row.first, row.later, row.shown) >= 0}


def rows(score: Score) -> list[tuple[str, KindScore]]:
    """Return the kinds of ops, those with the smallest share at the first try first."""
    return sorted(score.items(), key=lambda row: (row[1].first / max(1, row[1].total), row[0]))
