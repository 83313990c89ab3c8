"""Bracket matching: the partner of the bracket at the caret."""

import re
from collections.abc import Iterator
from functools import lru_cache

from PySide6.QtGui import QTextBlock, QTextCursor

from gradscribe.widgets.editor.highlight import (
    LexerState,
    code_spans,
    column_text,
    state_before,
    units,
)

PAIRS = {"(": ")", "[": "]", "{": "}"}
MAX_LINES = 400
"""Maximum number of lines searched."""
MAX_CHARACTERS = 20_000
"""Maximum number of characters searched."""
MAX_DEPTH = 1000
"""Maximum nesting depth followed; Python itself allows 200."""
_BRACKET = re.compile(r"[()\[\]{}]")
_NO_CODE = re.compile(r"['\"#]")
"""Characters that begin a string or a comment."""


def matching_pair(caret: QTextCursor) -> tuple[int, int] | None:
    """Return the positions, in the document, of the bracket at the caret and of its partner.

    The bracket right of the caret takes precedence over the one left of it. Brackets in strings
    and comments are ignored; None if there is no bracket or it has no matching partner.
    """
    block = caret.block()
    text = block.text()
    column = len(column_text(text, caret.positionInBlock()))
    near = [at for at in (column, column - 1) if 0 <= at < len(text) and _BRACKET.match(text, at)]
    for at in near:
        if (at, text[at]) in in_line(block):
            partner = partner_of(block, at)
            if partner is not None:
                return block.position() + units(text[:at]), partner
    return None


def in_line(block: QTextBlock) -> tuple[tuple[int, str], ...]:
    """Return the columns and brackets of a line, those in strings and comments left out."""
    return _brackets_in(block.text(), state_before(block))


@lru_cache(maxsize=MAX_LINES)
def _brackets_in(text: str, state: int) -> tuple[tuple[int, str], ...]:
    """Return the columns and brackets of a line; cached, since other lines rarely change."""
    if state == LexerState.CODE and _NO_CODE.search(text) is None:
        return tuple((match.start(), match.group()) for match in _BRACKET.finditer(text))
    if _BRACKET.search(text) is None:
        return ()
    return tuple(
        (at, text[at])
        for start, end, kind in code_spans(text, state)
        if kind == "bracket"
        for at in range(start, end)
    )


def partner_of(block: QTextBlock, at: int) -> int | None:
    """Return the position of the partner of the bracket in column ``at``; None without one."""
    opens = block.text()[at] in PAIRS
    stack: list[str] = []
    for here, column, bracket in _walk(block, at, forwards=opens):
        if (bracket in PAIRS) == opens:
            stack.append(bracket)
            if len(stack) > MAX_DEPTH:
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
    while block.isValid() and abs(block.blockNumber() - first) < MAX_LINES:
        if abs(block.position() - start) > MAX_CHARACTERS:
            return
        found = in_line(block)
        for column, bracket in found if forwards else reversed(found):
            if block.blockNumber() != first or (column >= at if forwards else column <= at):
                yield block, column, bracket
        block = block.next() if forwards else block.previous()
