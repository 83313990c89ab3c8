"""Messages of the engine, which says them in English: a method of extraction for Babel.

The engine has no function that translates: it also runs in other Pythons and on other machines. The
window recognizes its texts by these templates (`playback/translation/templates.py`).
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path

ROOMS = (
    *("doctor", "hints", "inspect", "models", "plotting", "process", "protocol", "ranks"),
    *("record", "run", "sandbox", "train", "zoo"),
)
"""Folders of the engine whose literals people read, unless something below says otherwise."""
UNREAD = (
    # Fixes edit programs and say nothing.
    "hints/fixes/*",
    # Flaws of messages between the processes: whoever sends them is replaced.
    *("protocol/check_*.py", "protocol/frames.py", "protocol/language.py", "protocol/wire/*"),
    *("protocol/training/replies.py", "train/arrays.py"),
    # Names that programs may use, and errors in the words of Python and torch.
    *("sandbox/policy/modules_allowed.py", "sandbox/policy/blocked.py", "sandbox/confine/*"),
    # Checks of files before anything is read from them, which end in a sentence of another file.
    *("train/user_module/attribute_lists.py", "record/loops/round_count.py", "record/forward/*"),
)
"""Files whose literals nobody reads."""
WORDS = ("doctor", "hints", "train/advice", "zoo")
"""Folders where single capitalized words are titles; elsewhere they name types."""
PROGRAMS = frozenset({"sick", "healthy", "example"})
"""Keywords whose values are programs and examples of errors."""
SILENT = frozenset(
    "compile match search fullmatch sub finditer findall split partition startswith endswith "
    "removeprefix removesuffix replace join TypeError AssertionError AttributeError ImportError "
    "IndexError KeyError NameError OSError frozenset Rewrite find getattr field get namedtuple "
    "cast log_error".split()
)
"""Functions whose arguments nobody reads."""
MOST_FORMS = 8
"""Most variants of a message whose words depend on conditions."""
_PROSE = re.compile(r"[A-Za-z]{2,}[,:;.]? +[A-Za-z{(]|^[A-Z][a-z]{3,}$|^an? [a-z]+")
_CODE = re.compile(
    r"\\|\(\?|\^|^\s*(import|from|def|class|for|with|if|return)\s|^\s*#|^\S+(, \w+)* = |^ {4}"
    r"|^inputs, targets|^torch\.\w+\(|\w\[[^\]]*$|^\w+\[|^\[|^\w+(, \w+)+$|^\w+\([^()]+\)$|^<"
)
_OF_SENTENCES = re.compile(
    r"\b(an?|the|of|to|or|and|is|be|it|runs|text|between)\b|^[A-Z][a-z]* [a-z]+\b(?! [A-Z])"
)
"""Words that values of a dict have where they are no list of names."""

Message = tuple[int, str | None, str | tuple[str, ...], list[str]]


def read_files(engine: Path) -> Iterator[tuple[Path, bool]]:
    """Yield (file, whether it has titles of a word) of the engine's files with messages."""
    for room in ROOMS:
        for path in sorted((engine / room).rglob("*.py")):
            place = path.relative_to(engine)
            if not any(place.match(pattern) for pattern in UNREAD):
                yield path, place.as_posix().startswith(WORDS)


def extract(
    fileobj: Iterable[bytes],
    keywords: object,
    comment_tags: object,
    options: Mapping[str, object],
) -> Iterator[Message]:
    """Yield (line, None, message, comments) of a file; Babel's protocol."""
    del keywords, comment_tags
    tree = ast.parse(b"".join(fileobj))
    has_titles = bool(options.get("has_titles"))
    skipped = {id(part) for node in ast.walk(tree) for part in _silent(node)}
    values = {id(v) for node in ast.walk(tree) if isinstance(node, ast.Dict) for v in node.values}
    for node in ast.walk(tree):
        if id(node) in skipped or not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        for message in forms(node):
            is_list = id(node) in values and not _OF_SENTENCES.search(message)
            if _is_prose(message) and not is_list and (has_titles or " " in message):
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
        case ast.arg(annotation=ast.expr() as kind) | ast.AnnAssign(annotation=kind):
            yield from ast.walk(kind)
        case ast.FunctionDef(returns=ast.expr() as kind):
            yield from ast.walk(kind)
        case ast.Attribute(value=ast.Constant() as text, attr="split"):
            yield text
        case ast.Dict(keys=keys):
            yield from filter(None, keys)
        case ast.Compare() | ast.Subscript():
            for part in ast.iter_child_nodes(node):
                if isinstance(part, ast.Constant):
                    yield part


def _is_prose(message: str) -> bool:
    return message.isprintable() and bool(_PROSE.search(message)) and not _CODE.search(message)
