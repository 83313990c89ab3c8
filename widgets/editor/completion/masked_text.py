"""The editor's text with strings and comments masked, as `playback.completion.caret` reads it."""

from collections.abc import Iterator
from functools import lru_cache

from PySide6.QtGui import QTextBlock, QTextCursor, QTextDocument

from gradscribe.playback.completion.caret import COMMENT, QUOTE
from gradscribe.widgets.editor.highlight import column_text, spans, state_before

MAX_LINES = 60
"""Maximum number of lines before the caret that are searched for the call around it."""


@lru_cache(maxsize=8192)
def masked_line(text: str, state: int) -> str:
    """Return a line with each letter of its strings and comments replaced; same length."""
    if state == 0 and not any(letter in text for letter in "'\"#"):
        return text
    masked, at = [], 0
    for start, end, kind in spans(text, state)[0]:
        if kind in ("string", "comment"):
            fill = QUOTE if kind == "string" else COMMENT
            masked += [text[at:start], fill * (end - start)]
            at = end
    return "".join([*masked, text[at:]])


def masked_block(block: QTextBlock) -> str:
    """Return a line of a document, masked."""
    return masked_line(block.text(), state_before(block))


def line_before(caret: QTextCursor) -> str:
    """Return the caret's line up to the caret, masked."""
    block = caret.block()
    column = len(column_text(block.text(), caret.positionInBlock()))
    return masked_block(block)[:column]


def text_before(caret: QTextCursor) -> str:
    """Return the last lines up to the caret, masked."""
    lines, block = [line_before(caret)], caret.block().previous()
    while block.isValid() and len(lines) < MAX_LINES:
        lines.append(masked_block(block))
        block = block.previous()
    return "\n".join(reversed(lines))


def masked_lines(document: QTextDocument) -> Iterator[str]:
    """Yield all lines of a document, masked."""
    block = document.begin()
    while block.isValid():
        yield masked_block(block)
        block = block.next()
