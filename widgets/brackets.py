"""The bracket that belongs to the one at the caret."""

import re
from collections.abc import Iterator

from PySide6.QtGui import QTextBlock, QTextCursor

from widgets.highlight import code_spans, column_text, state_before, units

PAIRS = {"(": ")", "[": "]", "{": "}"}
FARTHEST = 400
"""Lines that are searched at most."""
MOST = 20_000
"""Characters that are searched at most."""
_BRACKET = re.compile(r"[()\[\]{}]")


def matching(caret: QTextCursor) -> tuple[int, int] | None:
    """Return the positions, in the document, of the bracket at the caret and of its partner.

    The bracket right of the caret counts before the one left of it. Brackets in strings and
    comments count for nothing; None where there is no bracket or it has no right partner.
    """
    block = caret.block()
    column = len(column_text(block.text(), caret.positionInBlock()))
    text = block.text()
    for at in (column, column - 1):
        if 0 <= at < len(text) and at in dict(_brackets(block)):
            partner = _partner(block, at)
            if partner is not None:
                return block.position() + units(text[:at]), partner
    return None


def _brackets(block: QTextBlock) -> list[tuple[int, str]]:
    text = block.text()
    if _BRACKET.search(text) is None:
        return []
    spans = code_spans(text, state_before(block))
    return [(start, text[start]) for start, _, kind in spans if kind == "bracket"]


def _partner(block: QTextBlock, at: int) -> int | None:
    opens = block.text()[at] in PAIRS
    stack: list[str] = []
    for here, column, bracket in _walk(block, at, forwards=opens):
        if (bracket in PAIRS) == opens:
            stack.append(bracket)
            continue
        other = stack.pop()
        pair = (other, bracket) if opens else (bracket, other)
        if PAIRS.get(pair[0]) != pair[1]:
            return None
        if not stack:
            return here.position() + units(here.text()[:column])
    return None


def _walk(block: QTextBlock, at: int, *, forwards: bool) -> Iterator[tuple[QTextBlock, int, str]]:
    """Yield the brackets from column ``at`` of ``block`` on, in either direction."""
    first, start = block.blockNumber(), block.position()
    while block.isValid() and abs(block.blockNumber() - first) < FARTHEST:
        if abs(block.position() - start) > MOST:
            return
        found = _brackets(block)
        for column, bracket in found if forwards else reversed(found):
            if block.blockNumber() != first or (column >= at if forwards else column <= at):
                yield block, column, bracket
        block = block.next() if forwards else block.previous()
