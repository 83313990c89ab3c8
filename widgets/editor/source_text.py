"""Source text entering the editor: cleaning of pasted text, differences, underline ranges."""

import difflib
import re
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtGui import QTextCursor, QTextDocument

from gradscribe.engine.protocol.tape import Place
from gradscribe.playback.translation import tr
from gradscribe.widgets.editor import highlight

INDENT = 4
TAB = " " * INDENT
MAX_LINE_LENGTH = 10_000
"""Characters per line: Qt lays out a whole line again at every change to it."""
MAX_LENGTH = 500_000

_BREAKS = re.compile("\r\n|[\r\u2028\u2029\u0085\v\f]")
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
_INVISIBLE += "\u2066\u2067\u2068\u2069\0"
_DASHES = "\N{MINUS SIGN}\N{EN DASH}\N{NON-BREAKING HYPHEN}\N{HYPHEN}"
_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f"
_SPACES += "\u205f\u3000"
_CODE = str.maketrans(
    dict.fromkeys(_INVISIBLE) | dict.fromkeys(_DASHES, "-") | dict.fromkeys(_SPACES, " ")
)
_SMART = {"‘": "'", "’": "'", "‚": "'", "‛": "'", "“": '"', "”": '"', "„": '"', "‟": '"'}
_SMART_QUOTE = re.compile(f"[{''.join(_SMART)}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_PROMPT = re.compile(r"[ \t]*(?:>>>|\.\.\.)(?: |$)")


def clean_pasted(text: str) -> str:
    """Return pasted ``text`` as code: plain line ends, spaces, quotes and minus signs.

    What web pages insert (non-breaking spaces, zero-width characters, smart quotes, true minus
    signs, interpreter prompts) is replaced by what Python accepts. The content of strings and
    comments stays as it is; only line ends and broken surrogates are fixed there.
    """
    text = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", _BREAKS.sub("\n", text))
    lines = _without_prompts(text.split("\n"))
    cleaned: list[str] = []
    state: int = highlight.LexerState.CODE
    for line in lines:
        line = _clean_line(line, state)
        cleaned.append(line)
        state = highlight.spans(line, state)[1]
    return "\n".join(cleaned)


def length_problem(text: str) -> str:
    """Return the reason why ``text`` is too long for a responsive editor; empty if it is not."""
    if len(text) > MAX_LENGTH:
        return tr(
            "it has {text_count:,} characters, and the editor takes {max_length:,}",
            text_count=len(text),
            max_length=MAX_LENGTH,
        )
    line, longest = max(enumerate(map(len, text.split("\n")), 1), key=lambda pair: pair[1])
    if longest > MAX_LINE_LENGTH:
        return tr(
            "line {line} has {longest:,} characters, and the editor takes {max_line_length:,}",
            line=line,
            longest=longest,
            max_line_length=MAX_LINE_LENGTH,
        )
    return ""


def _without_prompts(lines: list[str]) -> list[str]:
    first = next((line for line in lines if line.strip()), "")
    if not first.lstrip().startswith(">>>"):
        return lines
    # Lines without a prompt are output.
    return [_PROMPT.sub("", line, count=1) for line in lines if _PROMPT.match(line)]


def _clean_line(line: str, state: int) -> str:
    if line.isascii() and "\t" not in line and "\0" not in line:
        return line
    line = _straight_quotes(line, state)
    clean_line, at = "", 0
    for start, end, kind in highlight.spans(line, state)[0]:
        if kind in ("string", "comment"):
            clean_line += (
                _expanded(line[at:start].translate(_CODE), len(clean_line)) + line[start:end]
            )
            at = end
    return clean_line + _expanded(line[at:].translate(_CODE), len(clean_line))


def _expanded(text: str, column: int) -> str:
    return (" " * (column % INDENT) + text).expandtabs(INDENT)[column % INDENT :]


def _straight_quotes(line: str, state: int) -> str:
    """Replace smart quotes that delimit strings, left to right: each changes what is a string."""
    at = 0
    while match := _SMART_QUOTE.search(line, at):
        start = match.start()
        at = start + 1
        if any(a <= start < b and k in ("string", "comment") for a, b, k in _spans(line, state)):
            continue
        quote = _SMART[match.group()]
        twins = "".join(smart for smart, plain in _SMART.items() if plain == quote)
        close = re.compile(f"[{twins}{quote}]").search(line, at)
        if close is None:
            line = line[:start] + quote + line[at:]
            continue
        line = line[:start] + quote + line[at : close.start()] + quote + line[close.end() :]
        at = close.end()
    return line


def _spans(line: str, state: int) -> list[highlight.Span]:
    return highlight.spans(line, state)[0]


def range_cursor(document: QTextDocument, start: int, end: int) -> QTextCursor:
    """Return a cursor that selects from ``start`` to ``end`` (Qt positions)."""
    cursor = QTextCursor(document)
    cursor.setPosition(start)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    return cursor


class Hunk(NamedTuple):
    """Replacement of the characters from ``start`` to ``end`` of the old text by ``text``."""

    start: int
    end: int
    text: str


MAX_COMPARED_LINES = 400


def hunks(old: str, new: str) -> list[Hunk]:
    """Return the replacements that turn ``old`` into ``new``, from left to right.

    They cover little more than what differs, so that cursors elsewhere stay in place.
    """
    before = common_prefix_length(old, new)
    after = common_prefix_length(old[before:][::-1], new[before:][::-1])
    if before == len(old) == len(new):
        return []
    # Whole lines are compared, so both ends are extended to line borders.
    start = old.rfind("\n", 0, before) + 1
    stop_old = old.find("\n", len(old) - after)
    tail = len(old) - stop_old if stop_old >= 0 else 0
    old_lines = old[start : len(old) - tail].splitlines(keepends=True)
    new_lines = new[start : len(new) - tail].splitlines(keepends=True)
    if max(len(old_lines), len(new_lines)) > MAX_COMPARED_LINES:
        return [Hunk(before, len(old) - after, new[before : len(new) - after])]
    return _line_hunks(old_lines, new_lines, start)


def _line_hunks(old: list[str], new: list[str], start: int) -> list[Hunk]:
    found: list[Hunk] = []
    places = [start]
    for line in old:
        places.append(places[-1] + len(line))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            found.append(_trimmed(places[a], "".join(old[a:b]), "".join(new[c:d])))
    return found


def _trimmed(start: int, old: str, new: str) -> Hunk:
    before = common_prefix_length(old, new)
    after = common_prefix_length(old[before:][::-1], new[before:][::-1])
    return Hunk(start + before, start + len(old) - after, new[before : len(new) - after])


def common_prefix_length(a: str, b: str) -> int:
    """Return the number of characters with which both texts begin."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def selected_ranges(cursors: Sequence[QTextCursor]) -> list[tuple[int, int, int]]:
    """Return the ranges that cursors select: line (from 1), start and end column in characters.

    A selection whose text was deleted is left out.
    """
    found = []
    for cursor in cursors:
        block = cursor.document().findBlock(cursor.selectionStart())
        text, at = block.text(), block.position()
        start = len(highlight.column_text(text, cursor.selectionStart() - at))
        end = len(highlight.column_text(text, cursor.selectionEnd() - at))
        if start < end:
            found.append((block.blockNumber() + 1, start, end))
    return found


def underline_ranges(place: Place, lines: list[str]) -> list[tuple[int, int, int]]:
    """Return the ranges to underline: line (from 0), start and end column, in characters.

    A place beyond the text, or on an empty line, moves back to the nearest character; an empty
    range grows to one character; indentation is left out of ranges over several lines. Without any
    character before it, or with a line below 1, the result is empty.
    """
    if place.line < 1:
        return []
    end_line = max(place.end_line, place.line)
    found = []
    for number in range(place.line, min(end_line, len(lines)) + 1):
        line = lines[number - 1]
        start = place.column if number == place.line else len(line) - len(line.lstrip())
        end = place.end_column if number == end_line else len(line)
        if line and (end > 0 or number == place.line):
            start = max(0, min(start, len(line) - 1))
            found.append((number - 1, start, max(start + 1, min(end, len(line)))))
    return found or _last_character(lines[: place.line])


def _last_character(lines: list[str]) -> list[tuple[int, int, int]]:
    for number in reversed(range(len(lines))):
        length = len(lines[number].rstrip())
        if length:
            return [(number, length - 1, length)]
    return []
