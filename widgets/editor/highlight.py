"""Python syntax highlighting: a lexer of single lines, and the highlighter that uses it.

The lexer never fails: an editor mostly contains half-typed text. A state is carried from line to
line, since only triple-quoted strings span several lines.
"""

import builtins
import keyword
import re
from collections.abc import Iterator
from enum import IntEnum
from typing import Literal

from PySide6.QtCore import QElapsedTimer, QObject
from PySide6.QtGui import QColor, QFont, QTextBlock, QTextCharFormat, QTextDocument, QTextLayout

from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.theme import Theme

Kind = Literal[
    "keyword", "constant", "number", "string", "comment", "function", "decorator", "bracket"
]


class LexerState(IntEnum):
    """Lexer state at the beginning of a line."""

    CODE = 0
    SINGLE = 1
    """Inside a string in three single quotes."""
    DOUBLE = 2
    """Inside a string in three double quotes."""


MAX_COLOURED = 4000
"""Maximum number of characters of a line that are coloured."""
TURN_MS = 10
"""Maximum time spent colouring before control returns to the event loop."""
Span = tuple[int, int, Kind]
"""Start, end (exclusive; in characters) and kind of a stretch of one line."""

CONSTANTS = frozenset({"True", "False", "None", "Ellipsis", "NotImplemented"})
KEYWORDS = frozenset(keyword.kwlist) - CONSTANTS
_TYPES = frozenset(name for name in dir(builtins) if isinstance(getattr(builtins, name), type))

_PREFIX = r"(?:[rR][bBfFtT]?|[bBfFtT][rR]?|[uU])?"
_TOKEN = re.compile(
    rf"""
    (?P<string>{_PREFIX}(?:
        \"\"\"(?:[^\\"]|\\.|"(?!""))*(?P<open2>\\?\Z)?(?:\"\"\")?
      | '''(?:[^\\']|\\.|'(?!''))*(?P<open1>\\?\Z)?(?:''')?
      | "(?:[^\\"]|\\.)*(?:"|\\?\Z)
      | '(?:[^\\']|\\.)*(?:'|\\?\Z)))
  | (?P<word>[^\W\d]\w*)(?P<call>\s*\()?
  | (?P<number>\.?\d(?:[eE][+-](?=\d)|[\w.])*)
  | (?P<comment>\#.*)
  | (?P<bracket>[()\[\]{{}}]+)
  | (?P<decorator>^[ \t]*@[^\W\d][\w.]*)
    """,
    re.VERBOSE | re.DOTALL,
)
_SIGN = re.compile(r"-[ \t]*\Z")
_OPERAND = re.compile(r"[\w.)\]}'\"]\Z")
_LAST_WORD = re.compile(r"[^\W\d]\w*\Z")
_CLOSE = {
    LexerState.SINGLE: re.compile(r"(?:[^\\']|\\.|'(?!''))*(''')?", re.DOTALL),
    LexerState.DOUBLE: re.compile(r'(?:[^\\"]|\\.|"(?!""))*(""")?', re.DOTALL),
}


def spans(line: str, state: int = LexerState.CODE) -> tuple[list[Span], int]:
    """Return the spans of ``line``, from left to right, and the state of the next line.

    ``state`` is the state at the beginning; values that are not a `LexerState` count as code. Plain
    names and operators have no span, adjacent brackets share one.
    """
    found: list[Span] = []
    at = 0
    if state in (LexerState.SINGLE, LexerState.DOUBLE):
        match = _CLOSE[LexerState(state)].match(line)
        if match is None or match.group(1) is None:
            return [(0, len(line), "string")], state
        at = match.end()
        found.append((0, at, "string"))
    defined = False
    for match in _TOKEN.finditer(line, at):
        group = match.lastgroup
        if group == "word" or group == "call":
            word, start, end = match.group("word"), match.start(), match.end("word")
            if word in KEYWORDS:
                found.append((start, end, "keyword"))
            elif group == "call" or defined or word in _TYPES:
                found.append((start, end, "function"))
            elif word in CONSTANTS:
                found.append((start, end, "constant"))
            if group == "call":
                found.append((match.end() - 1, match.end(), "bracket"))
            defined = word == "class" or word == "def"
            continue
        found.append((match.start(), match.end(), _KINDS[group or ""]))
        if group == "string" and match.group("open1") is not None:
            return found, LexerState.SINGLE
        if group == "string" and match.group("open2") is not None:
            return found, LexerState.DOUBLE
    return found, LexerState.CODE


_KINDS: dict[str, Kind] = {
    "string": "string",
    "number": "number",
    "comment": "comment",
    "bracket": "bracket",
    "decorator": "decorator",
}


def code_spans(line: str, state: int = LexerState.CODE) -> Iterator[Span]:
    """Yield the spans of ``line`` that are neither in a string nor in a comment."""
    return (span for span in spans(line, state)[0] if span[2] not in ("string", "comment"))


def sign_before(line: str, start: int, before: str = "") -> int:
    """Return the column of the minus sign of the number at ``start``, else ``start``.

    A minus after an operand subtracts. ``before`` is the code that precedes the line.
    """
    sign = _SIGN.search(line, 0, start)
    if sign is None:
        return start
    left = line[: sign.start()].rstrip() or before.rstrip()
    word = _LAST_WORD.search(left)
    if _OPERAND.search(left) and not (word and word.group() in KEYWORDS):
        return start
    return sign.start()


def units(text: str) -> int:
    """Return the length of ``text`` in UTF-16 code units, which is how Qt counts columns."""
    return len(text) if text.isascii() else len(text) + sum(c > "\uffff" for c in text)


def column_text(line: str, column: int) -> str:
    """Return the part of ``line`` before a Qt column, which counts UTF-16 code units."""
    if line.isascii():
        return line[:column]
    return line.encode("utf-16-le", "surrogatepass")[: 2 * column].decode("utf-16-le", "replace")


def state_before(block: QTextBlock) -> int:
    """Return the `LexerState` at the beginning of ``block``, as stored by the highlighter."""
    return max(0, block.previous().userState()) if block.previous().isValid() else LexerState.CODE


class Highlighter(QObject):
    """Colours a document as Python; each block's user state is the next block's `LexerState`.

    Replaces QSyntaxHighlighter, which calls Python for every line of a new text at once.
    """

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._document = document
        self._formats: dict[Kind, QTextCharFormat] = {}
        self._turn_clock = QElapsedTimer()
        self._first_uncoloured: int | None = None
        """The first line not yet coloured."""
        self._turn_timer = single_shot(self, self._colour_rest)
        document.contentsChange.connect(self._on_contents_change)

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of ``theme`` and colour the whole document again."""
        self._formats = {
            "keyword": _format(theme.module, weight=QFont.Weight.DemiBold),
            "constant": _format(theme.data),
            "number": _format(theme.data),
            "string": _format(theme.parameter),
            "comment": _format(theme.ink3, italic=True),
            "function": _format(theme.forward),
            "decorator": _format(theme.forward),
        }
        self._start_turn()
        self._first_uncoloured = None
        self._colour(self._document.begin(), self._document.characterCount())

    def _on_contents_change(self, position: int, removed: int, added: int) -> None:
        """Colour the changed lines; if there are very many, leave the rest for later turns."""
        document = self._document
        first, last = (
            document.findBlock(position),
            document.findBlock(position + added + (removed > 0)),
        )
        self._start_turn()
        if self._first_uncoloured is not None:
            # Lines not yet coloured may have moved.
            self._first_uncoloured = min(self._first_uncoloured, first.blockNumber())
        end = last.position() + last.length() if last.isValid() else document.characterCount()
        self._colour(first, end)

    def _start_turn(self) -> None:
        """Start the time budget of this turn of the event loop."""
        if not self._turn_timer.isActive():
            self._turn_timer.start()
            self._turn_clock.restart()

    def colour_more(self) -> bool:
        """Colour as many lines as one turn allows, without an event loop; True if some are left."""
        self._turn_timer.stop()
        self._colour_rest()
        return self._first_uncoloured is not None

    def _colour_rest(self) -> None:
        """Colour remaining lines, as many as one turn of the event loop allows."""
        first, self._first_uncoloured = self._first_uncoloured, None
        if first is not None:
            self._start_turn()
            self._colour(self._document.findBlockByNumber(first), self._document.characterCount())

    def _colour(self, block: QTextBlock, end: int) -> None:
        """Colour lines up to position ``end``, and further while their states change."""
        start = stop = block.position()
        state, is_other = state_before(block), False
        while block.isValid() and (stop < end or is_other):
            if stop > start and self._turn_clock.elapsed() > TURN_MS:
                late = block.blockNumber()
                self._first_uncoloured = (
                    late if self._first_uncoloured is None else min(late, self._first_uncoloured)
                )
                break
            text = block.text()
            found, state = spans(text[:MAX_COLOURED], state)
            _paint(block.layout(), self._ranges(text, found))
            is_other = block.userState() != state
            if is_other:
                block.setUserState(int(state))
            stop = block.position() + block.length()
            block = block.next()
        self._document.markContentsDirty(start, stop - start)

    def _ranges(self, text: str, found: list[Span]) -> list[QTextLayout.FormatRange]:
        """Return the format ranges of the spans, in Qt columns."""
        ranges = []
        wide = not text.isascii() and units(text) != len(text)
        for start, end, kind in found:
            style = self._formats.get(kind)
            if style is None:
                continue
            if kind == "number" and start and text[start - 1] == "-":
                start = sign_before(text, start)
            if wide:
                start, end = units(text[:start]), units(text[:end])
            styled = QTextLayout.FormatRange()
            styled.start, styled.length, styled.format = start, end - start, style
            ranges.append(styled)
        return ranges


def _paint(layout: QTextLayout, ranges: list[QTextLayout.FormatRange]) -> None:
    """Apply the formats of a line, around text that an input method composes in it."""
    composed = units(layout.preeditAreaText())
    if composed:
        at = layout.preeditAreaPosition()
        for styled in ranges:
            if styled.start >= at:
                styled.start += composed
            elif styled.start + styled.length >= at:
                styled.length += composed
        old = layout.formats()
        ranges = [o for o in old if at <= o.start and o.start + o.length <= at + composed] + ranges
    if ranges or layout.formats():
        layout.setFormats(ranges)


def _format(
    color: QColor, *, weight: QFont.Weight | None = None, italic: bool = False
) -> QTextCharFormat:
    style = QTextCharFormat()
    style.setForeground(color)
    style.setFontItalic(italic)
    if weight is not None:
        style.setFontWeight(weight)
    return style
