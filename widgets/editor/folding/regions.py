"""Blocks of a program that can be folded, found by their first word and their indentation."""

import re

from PySide6.QtGui import QTextBlock

from gradscribe.widgets.editor import brackets
from gradscribe.widgets.editor.highlight import LexerState, state_before

_HEADER = re.compile(
    r"\s*(?:(?:async\s+)?(?:def|class|for|while|with|if)\b|(?:elif|except)\b"
    r"|(?:else|try|finally)\s*:|(?:match|case)\b.*:\s*(?:#.*)?\Z)"
)
MAX_BLANK = 50
"""Maximum number of blank lines and comments skipped in search of a block's first line."""


def is_header(block: QTextBlock) -> bool:
    """Return whether a line begins a block of more than this line."""
    text = block.text()
    if not _HEADER.match(text) or state_before(block) != LexerState.CODE:
        return False
    if _depth(block) > 0:
        return True
    below = block.next()
    for _ in range(MAX_BLANK):
        if not below.isValid():
            return False
        if not _is_blank(below.text()):
            return _indentation(below.text()) > _indentation(text)
        below = below.next()
    return False


def last_block(header: QTextBlock) -> QTextBlock | None:
    """Return the last line of the block that ``header`` begins; None if it begins none.

    Blank lines and comments behind its last statement do not belong to it; lines inside brackets
    and strings do, however they are indented.
    """
    if not is_header(header):
        return None
    margin, depth = _indentation(header.text()), _depth(header)
    last, block = header, header.next()
    is_signature = depth > 0
    while block.isValid():
        text = block.text()
        inside = depth > 0 or state_before(block) != LexerState.CODE
        if inside or not _is_blank(text):
            if not inside and _indentation(text) <= margin:
                break
            last = block
            depth = max(0, depth + _depth(block))
            if is_signature and depth == 0:
                # The bracket that closes a signature may stand in the header's column.
                is_signature = False
        block = block.next()
    return last if last != header else None


def header_around(block: QTextBlock) -> QTextBlock | None:
    """Return the header of the innermost block that a line is in; the line itself if it is one."""
    if is_header(block):
        return block
    line = block.blockNumber()
    margin = _indentation(block.text()) if not _is_blank(block.text()) else None
    above = block.previous()
    while above.isValid():
        text = above.text()
        if not _is_blank(text):
            indentation = _indentation(text)
            if (margin is None or indentation < margin) and is_header(above):
                last = last_block(above)
                if last is not None and last.blockNumber() >= line:
                    return above
            if state_before(above) == LexerState.CODE and margin is not None:
                margin = min(margin, max(indentation, 1))
        above = above.previous()
    return None


def _depth(block: QTextBlock) -> int:
    return sum(1 if b in brackets.PAIRS else -1 for _, b in brackets.in_line(block))


def _is_blank(text: str) -> bool:
    text = text.lstrip()
    return not text or text.startswith("#")


def _indentation(text: str) -> int:
    text = text.expandtabs(8)
    return len(text) - len(text.lstrip())
