"""Closing of brackets and quotes as they are typed.

Nothing is closed inside strings and comments, before a letter, or where the line has the closing
bracket already. Every key is one undo step.
"""

import re

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QTextBlock, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from gradscribe.widgets.editor import brackets
from gradscribe.widgets.editor.highlight import (
    MAX_COLOURED,
    LexerState,
    Span,
    column_text,
    spans,
    state_before,
)
from gradscribe.widgets.editor.source_text import range_cursor

QUOTES = "\"'"
_BEFORE = re.compile(r"[\s)\]},:;]|\Z")
"""Text right of the caret before which a bracket or quote is closed."""
_PREFIX = re.compile(r"(?<!\w)(?:[rR][bBfFtT]?|[bBfFtT][rR]?|[uU])\Z")
"""A word left of a quote that begins a string together with it."""
_OPENING = {close: opening for opening, close in brackets.PAIRS.items()}
_STRING = re.compile(r"[a-zA-Z]*(\"\"\"|'''|\"|')")


class Closing:
    """Closes what is opened in an editor, and types over what it closed.

    A closing bracket that it inserted is remembered while the caret is before it: typed after a
    line break, the bracket is reached over the blank space between, which goes.
    """

    def __init__(self, edit: QPlainTextEdit) -> None:
        self._edit = edit
        self._pairs: list[QTextCursor] = []
        """Selections from an opening bracket to the one inserted for it, outer ones first."""

    def handle_key(self, press: QKeyEvent) -> bool:
        """Handle a bracket, a quote or Backspace; return False if Qt's default applies."""
        if press.key() == Qt.Key.Key_Backspace and not press.modifiers():
            return self._remove_pair()
        letter = press.text()
        if len(letter) != 1 or letter not in "()[]{}\"'" or not _is_typed(press):
            return False
        cursor = self._edit.textCursor()
        if cursor.hasSelection():
            return self._surround(cursor, letter)
        if letter in _OPENING:
            return self._type_over_bracket(cursor, letter)
        return (
            self._open_quote(cursor, letter)
            if letter in QUOTES
            else self._open_bracket(cursor, letter)
        )

    def _surround(self, cursor: QTextCursor, letter: str) -> bool:
        """Surround the selection and keep it selected; text over several lines with three quotes.

        A selected quote is replaced, which changes the kind of quote.
        """
        text = cursor.selectedText()
        if letter in _OPENING or text in ('"', "'"):
            return False
        opening = letter * 3 if letter in QUOTES and "\N{PARAGRAPH SEPARATOR}" in text else letter
        close = brackets.PAIRS.get(letter, opening)
        anchor, position = cursor.anchor(), cursor.position()
        start, end = min(anchor, position), max(anchor, position)
        cursor.beginEditBlock()
        cursor.setPosition(end)
        cursor.insertText(close)
        cursor.setPosition(start)
        cursor.insertText(opening)
        cursor.endEditBlock()
        cursor.setPosition(anchor + len(opening))
        cursor.setPosition(position + len(opening), QTextCursor.MoveMode.KeepAnchor)
        self._edit.setTextCursor(cursor)
        return True

    def _open_bracket(self, cursor: QTextCursor, letter: str) -> bool:
        place = _Place(cursor)
        if place.in_text or not _BEFORE.match(place.right) or place.lacks(brackets.PAIRS[letter]):
            return False
        self._insert(cursor, letter, brackets.PAIRS[letter])
        at = self._edit.textCursor().position()
        self._pairs.append(range_cursor(self._edit.document(), at - 1, at + 1))
        return True

    def _type_over_bracket(self, cursor: QTextCursor, letter: str) -> bool:
        place, at = _Place(cursor), cursor.position()
        gap = self._gap_to_closer(at, letter)
        if gap is not None:
            self._pairs.pop()
            if gap.hasSelection():
                gap.removeSelectedText()
        elif place.in_text or not place.right.startswith(letter) or place.wants(letter):
            return False
        cursor.movePosition(QTextCursor.MoveOperation.NextCharacter)
        self._show(cursor)
        return True

    def _gap_to_closer(self, at: int, letter: str) -> QTextCursor | None:
        """Select the blank space from ``at`` to the closing bracket that was inserted here."""
        self._pairs = [p for p in self._pairs if p.selectionStart() < at < p.selectionEnd()]
        if not self._pairs or not self._pairs[-1].selectedText().endswith(letter):
            return None
        gap = range_cursor(self._edit.document(), at, self._pairs[-1].selectionEnd() - 1)
        return gap if not gap.selectedText().strip() else None

    def _open_quote(self, cursor: QTextCursor, letter: str) -> bool:
        place = _Place(cursor)
        if place.closes_string(letter):
            cursor.movePosition(QTextCursor.MoveOperation.NextCharacter)
            self._show(cursor)
            return True
        if place.in_text or not _BEFORE.match(place.right):
            return False
        left = place.left
        if left.endswith(letter * 2) and place.ends_empty_string:
            self._insert(cursor, letter, letter * 3)
            return True
        if left[-1:] in ('"', "'") or (left[-1:].isalnum() and not _PREFIX.search(left)):
            return False
        self._insert(cursor, letter, letter)
        return True

    def _remove_pair(self) -> bool:
        """Remove both sides of an empty pair; return False if the caret is in none."""
        cursor = self._edit.textCursor()
        if cursor.hasSelection():
            return False
        place = _Place(cursor)
        count = place.empty_pair()
        if count:
            at = cursor.position()
            cursor.beginEditBlock()
            cursor.setPosition(at - count)
            cursor.setPosition(at + count, QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()
            cursor.endEditBlock()
            self._show(cursor)
        return bool(count)

    def _insert(self, cursor: QTextCursor, opening: str, close: str) -> None:
        cursor.beginEditBlock()
        cursor.insertText(opening + close)
        cursor.endEditBlock()
        cursor.setPosition(cursor.position() - len(close))
        self._show(cursor)

    def _show(self, cursor: QTextCursor) -> None:
        self._edit.setTextCursor(cursor)
        self._edit.ensureCursorVisible()


class _Place:
    """The line around a caret, as the lexer reads it."""

    def __init__(self, cursor: QTextCursor) -> None:
        self._block: QTextBlock = cursor.block()
        line = self._block.text()
        self.left = column_text(line, cursor.positionInBlock())
        self.right = line[len(self.left) :]
        self._state = state_before(self._block)
        self._line = line
        self._spans: list[Span] = spans(line[:MAX_COLOURED], self._state)[0]

    @property
    def in_text(self) -> bool:
        """True in a string or a comment, and so far right that colours end."""
        at = len(self.left)
        if at > MAX_COLOURED or (at == 0 and self._state != LexerState.CODE):
            return True
        for start, end, kind in self._spans:
            if kind == "comment" and start < at:
                return True
            if kind == "string" and start <= at <= end:
                is_first = start == 0 and self._state != LexerState.CODE
                inside = (start < at or is_first) and at < end
                if inside or (at == end and not self._is_closed(start, end)):
                    return True
        return False

    def _is_closed(self, start: int, end: int) -> bool:
        return self._close_of(start, end) > 0

    def _close_of(self, start: int, end: int) -> int:
        """Return the number of quotes that close the string span; 0 if it is not closed here."""
        text = self._line[start:end]
        if start == 0 and self._state != LexerState.CODE:
            quote = "'''" if self._state == LexerState.SINGLE else '"""'
            body = text
        else:
            match = _STRING.match(text)
            if match is None:
                return 0
            quote, body = match.group(1), text[match.end() :]
        if not body.endswith(quote):
            return 0
        slashes = body[: -len(quote)]
        is_escaped = (len(slashes) - len(slashes.rstrip("\\"))) % 2 == 1
        return 0 if is_escaped else len(quote)

    def closes_string(self, quote: str) -> bool:
        """Return whether the quote right of the caret is one that closes the string around it."""
        at = len(self.left)
        if not self.right.startswith(quote):
            return False
        for start, end, kind in self._spans:
            if kind == "string" and start <= at < end:
                return end - self._close_of(start, end) <= at and (at > start or start == 0)
        return False

    @property
    def ends_empty_string(self) -> bool:
        """True right of two quotes that are a whole string."""
        at = len(self.left)
        return any(
            kind == "string" and end == at and self._line[start:end].lstrip("rRbBfFtTuU") in _EMPTY
            for start, end, kind in self._spans
        )

    def empty_pair(self) -> int:
        """Return how many characters on either side of the caret are an empty pair."""
        left, right = self.left, self.right
        if left[-1:] in brackets.PAIRS and right.startswith(brackets.PAIRS[left[-1]]):
            return 0 if self.in_text or self.wants(right[0]) else 1
        quote = left[-1:]
        if quote not in QUOTES or not quote or not right.startswith(quote):
            return 0
        for start, end, kind in self._spans:
            if kind == "string" and start < len(left) < end:
                inner = self._line[start:end].lstrip("rRbBfFtTuU")
                if inner == quote * 6 and len(left) == end - 3:
                    return 3
                if inner == quote * 2 and len(left) == end - 1:
                    return 1
        return 0

    def _counts(self, opening: str, close: str) -> tuple[int, list[int]]:
        """Return how many brackets of a kind stay open left of the caret; the columns unmatched."""
        depth, unmatched = 0, list[int]()
        for column, bracket in brackets.in_line(self._block):
            if bracket == opening:
                depth += 1
            elif bracket == close and depth:
                depth -= 1
            elif bracket == close:
                unmatched.append(column)
        return depth, unmatched

    def lacks(self, close: str) -> bool:
        """Return whether the line right of the caret closes a bracket that nothing opens."""
        at = len(self.left)
        return any(
            column >= at and brackets.partner_of(self._block, column) is None
            for column in self._counts(_OPENING[close], close)[1]
        )

    def wants(self, close: str) -> bool:
        """Return whether the line opens more brackets of a kind than it closes."""
        return self._counts(_OPENING[close], close)[0] > 0


_EMPTY = ('""', "''")


def _is_typed(press: QKeyEvent) -> bool:
    """Return whether a key types its text; AltGr comes as Control and Alt on some systems."""
    control, alt = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
    both = control | alt
    return press.modifiers() & both in (Qt.KeyboardModifier.NoModifier, both)
