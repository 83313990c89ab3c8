"""Fixes of names: misspelt, not imported, looked up in the wrong module."""

import ast
import inspect
import re
from collections.abc import Iterator

from gradscribe.engine.hints import operands
from gradscribe.engine.hints.advice import near
from gradscribe.engine.hints.fixes.context import ErrorFixRow, FailedProgram

_FULL = {"F": "torch.nn.functional", "nn": "torch.nn", "optim": "torch.optim"}
_Match = re.Match[str]


def _import(fault: FailedProgram, _said: _Match, hint: _Match) -> Iterator[str]:
    """Insert an import after those that the program begins with."""
    after = 0
    for statement in fault.tree.body:
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not is_text and not isinstance(statement, ast.Import | ast.ImportFrom):
            break
        after = statement.end_lineno or after
    if not after and fault.lines[0].startswith("#"):
        # A comment at the top is the program's title.
        after = next((n for n, line in enumerate(fault.lines) if not line.startswith("#")), 0)
    yield "\n".join([*fault.lines[:after], hint[1], *fault.lines[after:]])


def _rename(fault: FailedProgram, said: _Match, hint: _Match) -> Iterator[str]:
    """Replace a name wherever the program reads it, as nothing gives it a value."""
    name, program = said[1], fault.source
    reads = [n for n in ast.walk(fault.tree) if isinstance(n, ast.Name) and n.id == name]
    if any(isinstance(node.ctx, ast.Store) for node in reads):
        reads = [n for n in reads if fault.extent(n)[0] == fault.span[0]]
    for start, end in sorted(map(fault.extent, reads), reverse=True):
        program = program[:start] + hint[1] + program[end:]
    yield program


def _attribute(fault: FailedProgram, said: _Match, hint: _Match) -> Iterator[str]:
    """Replace an attribute by a similar one of the same object."""
    for node in _attributes(fault, said[1]):
        end = fault.extent(node)[1]
        yield fault.replaced(end - len(said[1]), end, hint[1])


def _uncalled(fault: FailedProgram, _said: _Match, hint: _Match) -> Iterator[str]:
    """Call the method of that name where the program, in one place only, does not."""
    called = {id(node.func) for node in ast.walk(fault.tree) if isinstance(node, ast.Call)}
    found = [
        node
        for node in ast.walk(fault.tree)
        if isinstance(node, ast.Attribute) and node.attr == hint[1] and id(node) not in called
    ]
    if len(found) == 1:
        yield fault.with_node(found[0], f"{fault.text(found[0])}()")


def _qualified(fault: FailedProgram, said: _Match, hint: _Match) -> Iterator[str]:
    """Replace ``torch.Linear`` by the name in the module that has it."""
    root, _, rest = hint[1].partition(".")
    name = hint[1] if root in fault.scope else f"{_FULL.get(root, root)}.{rest}"
    for node in _attributes(fault, said[1]):
        yield fault.with_node(node, name)


def _attributes(fault: FailedProgram, name: str) -> list[ast.Attribute]:
    """Return the attributes with that name in the failing place, the one that ends it first."""
    found = [
        node
        for node in fault.nodes(ast.Attribute)
        if isinstance(node, ast.Attribute) and node.attr == name
    ]
    return sorted(found, key=lambda node: fault.extent(node)[1] != fault.span[1])


def _key(fault: FailedProgram, said: _Match, hint: _Match) -> Iterator[str]:
    for node in fault.nodes(ast.Constant):
        if isinstance(node, ast.Constant) and node.value == said[1]:
            quote = fault.text(node)[:1]
            yield fault.with_node(node, f"{quote}{hint[1]}{quote}")


def _keyword(fault: FailedProgram, said: _Match, hint: _Match) -> Iterator[str]:  # noqa: ARG001
    """Rename the keyword of a call that is most like the one that exists."""
    words = [node for node in fault.nodes(ast.keyword) if isinstance(node, ast.keyword)]
    meant = near(hint[1], [word.arg for word in words if word.arg])
    for word in words:
        if word.arg == meant:
            start = fault.extent(word)[0]
            yield fault.replaced(start, start + len(meant), hint[1])


def _unknown_keyword(fault: FailedProgram, said: _Match, _hint: _Match) -> Iterator[str]:
    for call in fault.nodes(ast.Call):
        assert isinstance(call, ast.Call)
        for word in call.keywords:
            if word.arg == said[1]:
                called = operands.value(call.func, fault.scope)
                meant = near(said[1], inspect.signature(called).parameters)  # type: ignore[arg-type]
                if meant:
                    start = fault.extent(word)[0]
                    yield fault.replaced(start, start + len(said[1]), meant)


def _module(fault: FailedProgram, said: _Match, hint: _Match) -> Iterator[str]:
    wrong = said[1].split(".")[0]
    line = re.sub(rf"\b{re.escape(wrong)}\b", hint[1], fault.line, count=1)
    yield fault.with_line(fault.place.line, line)


ROWS = (
    ErrorFixRow(_import, r"^name '(\w+)'", r"^Import it first: (.+)$", NameError),
    ErrorFixRow(_rename, r"name '(\w+)'", r"^Did you mean ([\w.]+)\?", NameError),
    ErrorFixRow(_rename, r"name '(\w+)'", r"^Python writes (\w+)\.", NameError),
    ErrorFixRow(
        _attribute, r"has no attribute '(\w+)'", r"^Did you mean \.(\w+)\?", AttributeError
    ),
    ErrorFixRow(
        _qualified, r"has no attribute '(\w+)'", r"^Did you mean (\w[\w.]*)\?", AttributeError
    ),
    ErrorFixRow(_uncalled, "", r"is not called yet: write (\w+)\(\)", AttributeError),
    ErrorFixRow(_key, r"^'(.+)'$", r"^Did you mean '(.+)'\?", KeyError),
    ErrorFixRow(_keyword, "", r"^Did you mean (\w+)=\?", TypeError),
    ErrorFixRow(_unknown_keyword, r"unexpected keyword argument '(\w+)'", "", TypeError),
    ErrorFixRow(
        _module, r"No module named '([\w.]+)'", r"^Did you mean (\w+)\?", ModuleNotFoundError
    ),
)
