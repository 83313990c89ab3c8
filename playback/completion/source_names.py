"""The names that a program's text defines, found line by line without parsing it.

Half-typed text has no syntax tree; a line that is whole still shows what it defines. Lines are
masked, see `caret`.
"""

import keyword
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from msgspec import Struct

from gradscribe.engine.protocol.language import NameKind

STARTS = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "optim": "torch.optim",
    "math": "math",
    "np": "numpy",
}
"""The packages that every program starts with: name -> path."""
START_NAMES: dict[str, NameKind] = {"tensor": "function", "param": "function", "device": "variable"}
"""The other names that every program starts with."""
MAX_LINES = 20_000
"""Maximum number of lines that are searched."""
MAX_COLUMNS = 1_000
"""Maximum number of characters of a line that are searched."""
_IDENTIFIER = r"[^\W\d]\w*"
_DEF = re.compile(rf"^\s*(?:async\s+)?def\s+({_IDENTIFIER})\s*(\(.*)?")
_CLASS = re.compile(rf"^\s*class\s+({_IDENTIFIER})")
_FOR = re.compile(r"\bfor\s+([\w\s,()]{1,200}?)\s+in\b")
_AS = re.compile(rf"\bas\s+({_IDENTIFIER})")
_WALRUS = re.compile(rf"({_IDENTIFIER})\s*:=")
_IMPORT = re.compile(r"^\s*import\s+(.+)")
_FROM = re.compile(r"^\s*from\s+([\w.]+)\s+import\s+\(?(.+)")
_NAME = re.compile(rf"(?<![\w.]){_IDENTIFIER}(?!\w|\s*\.)")
_BEGINS = re.compile(
    r"\s*(?:@|(?:async|def|class|if|for|while|with|return|import|from|try)\b)|[^\W\d]"
)
"""The beginning of a line that is no part of a call above it."""
_OPERATORS = tuple("=!<>+-*/%@&|^:~")
"""Characters that make an equals sign part of another operator."""
_NO_TARGET = re.compile(rf"\w\s*[(\[]|\b(?:{'|'.join(keyword.kwlist)})\b")
"""Calls, elements and keywords, which no plain target has."""
_MEMBER = re.compile(rf"\bself\.({_IDENTIFIER})")
_PARAMETER = re.compile(rf"^\*{{0,2}}({_IDENTIFIER})\s*(?:[:=,)]|$)")


class Binding(Struct, frozen=True):
    """A name that a line defines; ``path``: what it imports."""

    name: str
    kind: NameKind
    column: int = 0
    path: str = ""


class SourceNames(Struct, frozen=True):
    """The names of a text."""

    kinds: dict[str, NameKind]
    paths: dict[str, str]
    """Imported names and what they stand for: ``nn`` -> ``torch.nn``."""
    members: tuple[str, ...]
    """The names that follow ``self.``."""
    lines: dict[str, tuple[int, ...]]
    """The lines, from 1, that define each name."""


def names_in(masked_lines: Iterable[str]) -> SourceNames:
    """Return the names that the lines define, in their order."""
    kinds: dict[str, NameKind] = {}
    paths = dict(STARTS)
    members: dict[str, None] = {}
    lines: dict[str, tuple[int, ...]] = {}
    depth = 0
    for number, line in enumerate(masked_lines, 1):
        if number > MAX_LINES:
            break
        if depth and _BEGINS.match(line):
            depth = 0  # A bracket above is still open; here is another statement.
        found, depth = bindings(line, is_inside=depth > 0), max(0, depth + _depth(line))
        for binding in found:
            if binding.kind == "attribute":
                members[binding.name] = None
                continue
            kinds[binding.name] = binding.kind
            lines[binding.name] = (*lines.get(binding.name, ()), number)
            if binding.path:
                paths[binding.name] = binding.path
            else:
                paths.pop(binding.name, None)
    return SourceNames(kinds, paths, tuple(members), lines)


@lru_cache(maxsize=8192)
def _depth(line: str) -> int:
    """Return the number of brackets that a line leaves open, negative if it closes more."""
    code = line.partition("#")[0]
    return sum(map(code.count, "([{")) - sum(map(code.count, ")]}"))


@lru_cache(maxsize=8192)
def bindings(line: str, *, is_inside: bool = False) -> tuple[Binding, ...]:
    """Return the names that a masked line defines; an ``attribute`` is one of ``self``.

    ``is_inside``: a bracket is open, so that ``name=`` is a keyword.
    """
    code = line.partition("#")[0][:MAX_COLUMNS]
    if imported := _imports(code):
        return imported
    found: list[Binding] = []
    if match := _DEF.match(code):
        found.append(Binding(match[1], "function", match.start(1)))
        found += _parameters(match[2] or "", match.start(2))
    elif match := _CLASS.match(code):
        found.append(Binding(match[1], "class", match.start(1)))
    elif not is_inside:
        for start, text in _assigned(code):
            found += _targets(text, start)
    for match in _FOR.finditer(code):
        found += _targets(match[1], match.start(1))
    for pattern in (_AS, _WALRUS):
        found += [Binding(m[1], "variable", m.start(1)) for m in pattern.finditer(code)]
    return tuple(found)


def _assigned(code: str) -> Iterator[tuple[int, str]]:
    """Yield column and text of the targets of a line that assigns, annotations left out."""
    depth, begin, colon = 0, 0, -1
    for at, letter in enumerate(code):
        depth += (letter in "([{") - (letter in ")]}")
        if depth:
            continue
        if letter == ":" and colon < begin:
            colon = at
        elif letter == "=" and code[at + 1 : at + 2] != "=" and code[at - 1 : at] not in _OPERATORS:
            yield begin, code[begin : colon if colon >= begin else at]
            begin = at + 1


def _targets(text: str, start: int) -> list[Binding]:
    """Return the names in a target; not those of an element, an attribute or an argument."""
    members = [Binding(m[1], "attribute", start + m.start(1)) for m in _MEMBER.finditer(text)]
    if _NO_TARGET.search(text):
        return members
    names = [Binding(m.group(), "variable", start + m.start()) for m in _NAME.finditer(text)]
    return [*names, *members]


def _parameters(text: str, start: int) -> list[Binding]:
    """Return the parameters in the brackets of a definition."""
    found, depth, begin = [], 0, 1
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if (letter == "," and depth == 1) or depth == 0 or at == len(text) - 1:
            part = text[begin : at + 1]
            lead = len(part) - len(part.lstrip())
            if match := _PARAMETER.match(part.lstrip()):
                found.append(Binding(match[1], "parameter", start + begin + lead + match.start(1)))
            begin = at + 1
        if depth == 0:
            break
    return found


def _imports(code: str) -> tuple[Binding, ...]:
    if match := _FROM.match(code):
        package, parts, start = match[1] + ".", match[2], match.start(2)
    elif match := _IMPORT.match(code):
        package, parts, start = "", match[1], match.start(1)
    else:
        return ()
    found, at = [], start
    for part in parts.split(","):
        name, _, alias = part.strip(" ()").partition(" as ")
        alias = alias.strip()
        column = at + max(0, part.find(alias or name))
        at += len(part) + 1
        if re.fullmatch(r"[\w.]+", name):
            # ``import a.b`` defines ``a``.
            short = alias or (name if package else name.split(".")[0])
            path = package + name if alias or package else short
            found.append(Binding(short, "package", column, path))
    return tuple(found)
