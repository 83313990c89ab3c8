"""The text before the caret: the word being typed, its owner, and the call around it.

Text is *masked*: each letter of a string is a quote, each letter of a comment a ``#``, so that
brackets, dots and commas are those of the code.
"""

import re

from msgspec import Struct

QUOTE, COMMENT = '"', "#"
MAX_ARGUMENTS = 4_000
"""Maximum number of characters searched backwards for the bracket of a call."""
MAX_COLUMNS = 1_000
"""Maximum number of characters of the line before the caret that are read."""
_WORD = re.compile(r"\w*\Z")
_PATH = re.compile(r"(?<![\w.)\]}\"])[^\W\d]\w*(?:\.[^\W\d]\w*|\[[^\[\]\"]{0,40}\])*\Z")
_INDEX = re.compile(r"\[\s*(\d+)?[^\]]*\]")
_NUMBER = re.compile(r"(?<![\w.])\d[\d_]*\.\Z")
_NEW_NAME = re.compile(r"(?:\b(?:def|class|as|for|global|nonlocal)|\blambda[\w\s,*]*)\s\s*\Z")
_FROM = re.compile(r"^\s*from\s+([\w.]+)\s+import\s+(?:\(?[\w\s,]*)?\Z")
_PACKAGE = re.compile(r"^\s*(?:from|import)\s+(?:[\w.\s]*,\s*)?(?:[\w.]+\.)?\Z")
_OPENERS, _CLOSERS = "([{", ")]}"
_STATEMENT = re.compile(
    r"\s*(?:@|(?:def|class|if|elif|else|for|while|return|import|from|with|try|except|del|raise)\b)"
)
_KEYWORD = re.compile(r"\s*([^\W\d]\w*)\s*=(?!=)")
_CALLABLE = re.compile(r"[\w)\]]\s*\Z")
_DEFINITION = re.compile(r"\b(?:def|class)\s+\w+\s*\Z")


class Caret(Struct, frozen=True):
    """The word at the caret and what it belongs to."""

    prefix: str
    """The part of the word before the caret."""
    owner: str = ""
    """The dotted path before the dot; empty if there is none, or it is more than a path."""
    is_member: bool = False
    """True if a dot stands before the word."""
    is_imported: bool = False
    """True if the word is imported from the package ``owner``."""
    is_package: bool = False
    """True if the word is part of a package's path in an import."""
    is_new: bool = False
    """True if the word is a name that the text is about to define."""


class CallAtCaret(Struct, frozen=True):
    """The call whose arguments include the caret."""

    path: str
    """The dotted path of what is called; empty if it is more than a path."""
    opens: int
    """Number of characters between the opening bracket, itself included, and the caret."""
    argument: int
    """Number of commas before the caret among the arguments."""
    keyword: str = ""
    """The keyword of the argument at the caret, if it has one."""
    used: frozenset[str] = frozenset()
    """The keywords of the arguments before."""


def caret_in(masked: str) -> Caret | None:
    """Return what is typed at the end of a masked line; None in strings, comments and numbers."""
    masked = masked[-MAX_COLUMNS:]
    prefix = _WORD.search(masked)
    word = prefix.group() if prefix else ""
    before = masked[: len(masked) - len(word)]
    if word[:1].isdigit() or masked[-1:] in (QUOTE, COMMENT) or before[-1:] == QUOTE:
        return None
    if imported := _FROM.match(before):
        return Caret(word, imported[1], is_imported=True)
    if _PACKAGE.match(before):
        package = before.split()[-1].rpartition(",")[2] if before.endswith(".") else ""
        return Caret(word, package.rstrip("."), is_member=bool(package), is_package=True)
    if before.endswith("."):
        if before.endswith("..") or _NUMBER.search(before):
            return None
        path = _PATH.search(before[:-1])
        return Caret(word, _dotted(path.group()) if path else "", is_member=True)
    return Caret(word, is_new=bool(_NEW_NAME.search(before)))


def call_around(masked: str) -> CallAtCaret | None:
    """Return the innermost call around the end of masked text, which may have several lines."""
    commas, depth, end = 0, 0, len(masked)
    argument = end
    keywords: list[str] = []
    for at in range(end - 1, max(-1, end - MAX_ARGUMENTS - 1), -1):
        letter = masked[at]
        if letter in _CLOSERS:
            depth += 1
        elif letter in _OPENERS and depth:
            depth -= 1
        elif letter in _OPENERS:
            found = _call(masked, at) if letter == "(" else None
            if found is not None:
                keywords.append(_keyword(masked[at + 1 : argument]))
                *used, current = reversed(keywords)
                return CallAtCaret(found, end - at, commas, current, frozenset(filter(None, used)))
            commas, argument, keywords = 0, at, []
        elif letter == "," and not depth:
            commas += 1
            keywords.append(_keyword(masked[at + 1 : argument]))
            argument = at
        elif letter == "\n" and _STATEMENT.match(masked, at + 1):
            return None
    return None


def _keyword(argument: str) -> str:
    found = _KEYWORD.match(argument)
    return found[1] if found else ""


def _call(masked: str, at: int) -> str | None:
    """Return the path that the bracket calls, empty if it is more; None if it calls nothing."""
    before = masked[:at]
    if not _CALLABLE.search(before) or _DEFINITION.search(before):
        return None
    line = before.rpartition("\n")[2].rstrip()
    path = _PATH.search(line)
    if path is None:
        return ""
    return None if path.group() in _NOT_CALLED else _dotted(path.group())


def _dotted(path: str) -> str:
    """Return a path with its indices as names: ``net[0].bias`` -> ``net.0.bias``.

    An index that is no number stands for any, which the first stands for here.
    """
    return _INDEX.sub(lambda index: f".{index[1] or 0}", path)


_NOT_CALLED = frozenset(
    "and as assert await del elif except for from if import in is lambda not or raise return while "
    "with yield".split()
)
