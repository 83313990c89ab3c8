"""Messages of the engine, which says them in English: a method of extraction for Babel.

The engine has no function that translates: it also runs in other Pythons and on other machines. The
window recognizes its texts by these templates (`playback/translation/templates.py`).
"""

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import product

ROOMS = ("hints", "doctor", "train/advice", "zoo")
"""Folders of the engine whose literals people read, unless something below says otherwise."""
PROGRAMS = frozenset({"sick", "healthy", "example"})
"""Keywords whose values are programs and examples of errors."""
SILENT = frozenset(
    "compile match search fullmatch sub finditer findall split partition startswith endswith "
    "removeprefix removesuffix replace join ValueError TypeError AssertionError KeyError "
    "frozenset Rewrite find getattr field get namedtuple".split()
)
"""Functions whose arguments nobody reads."""
MOST_FORMS = 8
"""Most variants of a message whose words depend on conditions."""
_PROSE = re.compile(r"[A-Za-z]{2,}[,:;.]? +[A-Za-z{(]|^[A-Z][a-z]{3,}$")
_CODE = re.compile(r"\\|\(\?|\^|^\s*(import|from|def|class|for|with|if|return)\s|^#|^\S+ = ")

Message = tuple[int, str | None, str | tuple[str, ...], list[str]]


def extract(
    fileobj: Iterable[bytes],
    keywords: object,
    comment_tags: object,
    options: object,
) -> Iterator[Message]:
    """Yield (line, None, message, comments) of a file; Babel's protocol."""
    del keywords, comment_tags, options
    tree = ast.parse(b"".join(fileobj))
    skipped = {id(part) for node in ast.walk(tree) for part in _silent(node)}
    for node in ast.walk(tree):
        if id(node) in skipped or not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        for message in forms(node):
            if _is_prose(message):
                yield node.lineno, None, message, []


def forms(node: ast.expr) -> Iterator[str]:
    """Yield the messages that a literal can become: one for each choice of words within it."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node.value
        return
    assert isinstance(node, ast.JoinedStr)
    names: dict[str, str] = {}
    pieces = [_piece(part, names) for part in node.values]
    count = 1
    for index, piece in enumerate(pieces):
        count *= len(piece)
        if count > MOST_FORMS:
            pieces[index] = piece[:1]
    yield from dict.fromkeys("".join(words) for words in product(*pieces))


def _piece(part: ast.expr, names: dict[str, str]) -> list[str]:
    """Return the variants of a part of an f-string."""
    if isinstance(part, ast.Constant):
        return [str(part.value).replace("{", "{{").replace("}", "}}")]
    assert isinstance(part, ast.FormattedValue)
    choices = _choices(part.value)
    if choices:
        return choices
    source = ast.unparse(part)
    if source not in names:
        name = placeholder(part.value)
        taken = set(names.values())
        names[source] = next(
            free for free in (name, *(f"{name}_{i}" for i in range(2, 99))) if free not in taken
        )
    return [f"{{{names[source]}}}"]


def _choices(node: ast.expr) -> list[str]:
    """Return the words that a condition chooses among; empty if they are no literals."""
    if isinstance(node, ast.IfExp):
        found = [_choices(branch) for branch in (node.body, node.orelse)]
        return [word for words in found for word in words] if all(found) else []
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value.replace("{", "{{").replace("}", "}}")]
    return []


def placeholder(node: ast.expr) -> str:
    """Return a name for the value of an expression."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.strip("_").lower() or "value"
        case ast.Call(func=ast.Name(id="len"), args=[inner]):
            return f"{placeholder(inner)}_count".replace("_count_count", "_count")
        case ast.Call(func=func):
            return placeholder(func)
        case ast.Subscript(value=inner):
            return placeholder(inner)
    return "value"


def _silent(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the literals within ``node`` that are no messages of their own."""
    match node:
        case ast.Expr(value=ast.Constant() as text):
            yield text
        case ast.JoinedStr():
            yield from (part for part in ast.walk(node) if part is not node)
        case ast.keyword(arg=name) if name in PROGRAMS:
            yield from ast.walk(node)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in SILENT:
            yield from ast.walk(node)
        case ast.Call(func=ast.Name(id="HintRow"), args=args):
            # The error that the hint is for, and an example of it.
            yield from (part for arg in (*args[:1], *args[2:]) for part in ast.walk(arg))
        case ast.Compare() | ast.Dict() | ast.Subscript():
            for part in ast.iter_child_nodes(node):
                if isinstance(part, ast.Constant):
                    yield part


def _is_prose(message: str) -> bool:
    return message.isprintable() and bool(_PROSE.search(message)) and not _CODE.search(message)
