"""The bracket that belongs to the one at the caret."""

import re
from collections.abc import Iterator
from functools import lru_cache

from PySide6.QtGui import QTextBlock, QTextCursor

from widgets.highlight import State, code_spans, column_text, state_before, units

PAIRS = {"(": ")", "[": "]", "{": "}"}
FARTHEST = 400
"""Lines that are searched at most."""
MOST = 20_000
"""Characters that are searched at most."""
DEEPEST = 1000
"""Brackets within each other that are gone through at most; Python itself takes 200."""
_BRACKET = re.compile(r"[()\[\]{}]")
_NO_CODE = re.compile(r"['\"#]")
"""What begins a string or a comment."""


def matching(caret: QTextCursor) -> tuple[int, int] | None:
    """Return the positions, in the document, of the bracket at the caret and of its partner.

    The bracket right of the caret counts before the one left of it. Brackets in strings and
    comments count for nothing; None where there is no bracket or it has no right partner.
    """
    block = caret.block()
    text = block.text()
    column = len(column_text(text, caret.positionInBlock()))
    near = [at for at in (column, column - 1) if 0 <= at < len(text) and _BRACKET.match(text, at)]
    for at in near:
        if (at, text[at]) in _brackets(block):
            partner = _partner(block, at)
            if partner is not None:
                return block.position() + units(text[:at]), partner
    return None


def _brackets(block: QTextBlock) -> tuple[tuple[int, str], ...]:
    return _found(block.text(), state_before(block))


@lru_cache(maxsize=FARTHEST)
def _found(text: str, state: int) -> tuple[tuple[int, str], ...]:
    """Return the columns and brackets of a line; the lines around the one typed in stay."""
    if state == State.CODE and _NO_CODE.search(text) is None:
        return tuple((one.start(), one.group()) for one in _BRACKET.finditer(text))
    if _BRACKET.search(text) is None:
        return ()
    return tuple(
        (at, text[at])
        for start, end, kind in code_spans(text, state)
        if kind == "bracket"
        for at in range(start, end)
    )


def _partner(block: QTextBlock, at: int) -> int | None:
    opens = block.text()[at] in PAIRS
    stack: list[str] = []
    for here, column, bracket in _walk(block, at, forwards=opens):
        if (bracket in PAIRS) == opens:
            stack.append(bracket)
            if len(stack) > DEEPEST:
                return None
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
