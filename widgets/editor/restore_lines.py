"""Restore the line ends of code that lost them when copied from a web page.

A search finds statement ends such that every statement is complete; longer statements are tried
first. The extent of blocks is not in the text any more: loops take all that follows, a function
ends with its return.
"""

import ast
from functools import lru_cache

from gradscribe.playback.text import parse

MAX_LENGTH = 4000
"""Maximum number of characters: the search would be noticeable beyond that."""
MAX_WORDS = 60
"""Maximum number of words of a statement or a comment."""
LOST_LINE_END_FROM = 3
"""Number of statements behind a comment from which its line end must have been lost."""
TAB = "    "
_SIMPLE = (
    ast.Assign,
    ast.AugAssign,
    ast.AnnAssign,
    ast.Import,
    ast.ImportFrom,
    ast.Return,
    ast.Delete,
    ast.Assert,
    ast.Raise,
)
_BLOCKS = (ast.For, ast.While, ast.With, ast.If, ast.FunctionDef, ast.ClassDef)
_BARE = ("pass", "break", "continue")
_CLOSING = {")": "(", "]": "[", "}": "{"}


def restore_lines(text: str) -> str:
    """Split one long line into its original lines; return it unchanged if that is impossible."""
    flat = text.strip()
    is_whole = _parsed(flat) is not None
    if "\n" in flat or len(flat) > MAX_LENGTH or (is_whole and "#" not in flat):
        return text
    try:
        pieces = _Search(flat).pieces(0)
    except RecursionError:
        return text
    if pieces is None or len(pieces) < 2 or (is_whole and _swallowed(pieces) < LOST_LINE_END_FROM):
        return text
    found = _indented(list(pieces))
    return found if _parsed(found) is not None else text


class _Search:
    """Split of one line into statements, block headers and comments."""

    def __init__(self, flat: str) -> None:
        self._flat = flat
        self.pieces = lru_cache(maxsize=None)(self._pieces)

    def _pieces(self, start: int) -> tuple[str, ...] | None:
        if start >= len(self._flat):
            return ()
        is_comment = self._flat[start] == "#"
        for end in self._blanks(start) if is_comment else reversed(self._ends(start)):
            piece = self._flat[start:end]
            if is_comment or _is_piece(piece):
                rest = self.pieces(_past_blanks(self._flat, end))
                # In "# Forward pass" the last word is not a pass statement.
                if rest is not None and not (is_comment and rest and rest[0] in _BARE):
                    return (piece, *rest)
        return None

    def _blanks(self, start: int) -> list[int]:
        """Return possible ends of a comment: any blank, the nearest first."""
        found = [at for at in range(start, len(self._flat)) if self._flat[at].isspace()]
        return [*found[1:MAX_WORDS], len(self._flat)]

    def _ends(self, start: int) -> list[int]:
        """Return possible ends of a statement: blanks outside of brackets and strings."""
        flat, found, depth, at = self._flat, list[int](), list[str](), start
        while at < len(flat) and len(found) < MAX_WORDS:
            letter = flat[at]
            if letter in "\"'":
                at = _past_string(flat, at)
                continue
            if letter in "([{":
                depth.append(letter)
            elif letter == "#" or not _closes(letter, depth):
                return found
            elif letter.isspace() and not depth and not flat[at - 1].isspace():
                found.append(at)
            at += 1
        return [*found, at] if at >= len(flat) and not depth else found


def _swallowed(pieces: tuple[str, ...]) -> int:
    """Return the number of statements behind the first comment."""
    first = next((at for at, piece in enumerate(pieces) if piece.startswith("#")), len(pieces))
    return sum(not piece.startswith("#") for piece in pieces[first:])


def _closes(letter: str, depth: list[str]) -> bool:
    """Pop the bracket that ``letter`` closes; return False if there is no matching one."""
    return letter not in _CLOSING or (bool(depth) and depth.pop() == _CLOSING[letter])


def _past_blanks(flat: str, at: int) -> int:
    while at < len(flat) and flat[at].isspace():
        at += 1
    return at


def _past_string(flat: str, at: int) -> int:
    quote = flat[at] * 3 if flat.startswith(flat[at] * 3, at) else flat[at]
    at += len(quote)
    while at < len(flat) and not flat.startswith(quote, at):
        at += 2 if flat[at] == "\\" else 1
    return at + len(quote)


@lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.Module | None:
    try:
        return parse.parse_program(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_piece(text: str) -> bool:
    if text in _BARE:
        return True
    tree = _parsed(f"{text} pass" if text.endswith(":") else text)
    if tree is None or len(tree.body) != 1:
        return False
    (statement,) = tree.body
    if text.endswith(":"):
        return isinstance(statement, _BLOCKS)
    if isinstance(statement, ast.Expr):
        # A bare name is more often a word of a comment than a statement.
        value = statement.value
        is_text = isinstance(value, ast.Constant) and isinstance(value.value, str)
        return is_text or isinstance(value, ast.Call | ast.Await)
    return isinstance(statement, _SIMPLE)


def _indented(pieces: list[str]) -> str:
    """Return the pieces as indented lines, with every block as long as possible."""
    lines: list[str] = []
    open_blocks: list[str] = []
    for at, piece in enumerate(pieces):
        _close(open_blocks, piece, pieces[at - 1] if at else "")
        lines.append(TAB * len(open_blocks) + piece)
        if _kind(piece):
            open_blocks.append(_kind(piece))
    return "\n".join(lines) + "\n"


def _kind(piece: str) -> str:
    word = piece.partition(" ")[0]
    return word if piece.endswith(":") and not piece.startswith("#") else ""


def _close(blocks: list[str], piece: str, before: str) -> None:
    """Pop the blocks that ended before ``piece``."""
    begun = _kind(before)
    if not begun and blocks and blocks[-1] == "if":
        blocks.pop()
    if blocks and blocks[-1] == "with" and _is_update(before) and not _is_update(piece):
        blocks.pop()
    if before.startswith("return") and "def" in blocks:
        del blocks[blocks.index("def") :]
    if _kind(piece) == "class" or (_kind(piece) == "def" and "class" not in blocks):
        blocks.clear()
    elif _kind(piece) == "def":
        del blocks[blocks.index("class") + 1 :]
    elif "class" in blocks and "def" not in blocks and not begun:
        blocks.clear()


def _is_update(piece: str) -> bool:
    tree = _parsed(piece)
    return tree is not None and bool(tree.body) and isinstance(tree.body[0], ast.AugAssign)
