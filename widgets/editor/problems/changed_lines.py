"""Lines that an edit removes and adds, cut to a width so that the difference is visible."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF

from gradscribe.widgets.editor.source_text import common_prefix_length

BEFORE = 10
"""Characters in front of a difference that a line begins with, if its own beginning is cut off."""
_ELLIPSIS = "…"


def fit_changes(rows: Sequence[str], metrics: QFontMetricsF, room: float) -> list[str]:
    """Return each row (``- old``, ``+ new``) with its sign, at most ``room`` pixels wide.

    The first removed line belongs to the first added one, and so on. Lines that belong together
    begin at the same character, so that they can be compared.
    """
    texts = [row[2:] for row in rows]
    blank = min((len(text) - len(text.lstrip()) for text in texts if text.strip()), default=0)
    texts = [text[blank:] for text in texts]
    starts = [0] * len(rows)
    removed = [at for at, row in enumerate(rows) if row[0] == "-"]
    added = [at for at, row in enumerate(rows) if row[0] == "+"]
    for pair in zip(removed, added, strict=False):
        old, new = (texts[at] for at in pair)
        start = _start(old, new, metrics, room)
        for at in pair:
            starts[at] = start
    return [
        _fitted("−" if row[0] == "-" else "+", text, start, metrics, room)
        for row, text, start in zip(rows, texts, starts, strict=True)
    ]


def _start(old: str, new: str, metrics: QFontMetricsF, room: float) -> int:
    """Return the first character to show of two lines: 0 where the difference fits as well."""
    same = common_prefix_length(old, new)
    tail = common_prefix_length(old[same:][::-1], new[same:][::-1])
    ends = (text[: len(text) - tail] for text in (old, new))
    if all(metrics.horizontalAdvance(f"− {end}{_ELLIPSIS}") <= room for end in ends):
        return 0
    return max(0, same - BEFORE)


def _fitted(sign: str, text: str, start: int, metrics: QFontMetricsF, room: float) -> str:
    shown = f"{_ELLIPSIS}{text[start:]}" if start else text
    return metrics.elidedText(f"{sign} {shown}", Qt.TextElideMode.ElideRight, room)
