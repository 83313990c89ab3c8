"""Replacement of matches in a document as one step of undo."""

from collections.abc import Sequence

from PySide6.QtGui import QTextCursor, QTextDocument

from gradscribe.widgets.editor.find.unit_places import UnitPlaces
from gradscribe.widgets.editor.source_text import range_cursor

Replacement = tuple[tuple[int, int], str]
"""Start and end of a match in characters, and the text for it."""
MOST_CURSORS = 2_000
"""Maximum number of matches replaced one by one; more are written as one piece of text."""


def replaced(source: str, found: Sequence[Replacement]) -> str:
    """Return ``source`` with the replacements, which are in order and do not overlap."""
    parts, at = [], 0
    for (start, end), text in found:
        parts += [source[at:start], text]
        at = end
    return "".join((*parts, source[at:]))


def write(document: QTextDocument, source: str, found: Sequence[Replacement]) -> None:
    """Write the replacements into the document, whose text is ``source``."""
    if len(found) > MOST_CURSORS:
        first, last = found[0][0][0], found[-1][0][1]
        whole = replaced(source, found)
        found = [((first, last), whole[first : len(whole) - (len(source) - last)])]
    place = UnitPlaces(source)
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    for (start, end), text in reversed(found):
        range_cursor(document, place(start), place(end)).insertText(text)
    cursor.endEditBlock()
