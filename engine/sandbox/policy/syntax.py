"""Check the syntax tree of an untrusted program before it runs."""

import ast
from collections.abc import Callable, Iterator

from gradscribe.engine.protocol.tape import Place
from gradscribe.engine.sandbox.policy import allowlist, bounds
from gradscribe.engine.sandbox.policy.refusal import TRUST, Refusal
from gradscribe.engine.sandbox.policy.rewrite import is_super

Offers = Callable[[str], frozenset[str] | None]
"""Module name -> names that an untrusted program may use; None if it may not be imported."""

_KNOWN = frozenset(("__name__", "__file__", "__doc__"))
_OUTSIDE = "Files, other programs and the network are closed to it."


def check(tree: ast.Module, source: str, offers: Offers) -> None:
    """Refuse a program that the policy does not allow.

    Raises:
        Refusal: the first thing in the text that is not allowed, with its place.
    """
    _Check(source, offers).check(tree)


class _Check:
    def __init__(self, source: str, offers: Offers) -> None:
        self._lines = source.split("\n")
        self._offers = offers
        self._bound: set[str] = set()

    def check(self, tree: ast.Module) -> None:
        for node, depth, _ in _walk(tree):
            if depth > bounds.DEPTH:
                self._refuse(node, "The program is nested too deep", "Give inner parts names.")
            self._bound.update(_bindings(node))
        for count, (node, _, parents) in enumerate(_walk(tree)):
            if count > bounds.NODES:
                self._refuse(node, "The program is too long", "Leave something out.")
            kind = type(node).__name__
            if kind not in allowlist.NODES:
                self._refuse(
                    node, f"{_kind_name(kind)} is not available to a program from outside", TRUST
                )
            rule = getattr(self, f"_visit_{kind}", None)
            if rule is not None:
                rule(node, parents)

    # Names

    def _visit_Name(self, node: ast.Name, parents: tuple[ast.AST, ...]) -> None:
        name, loads = node.id, isinstance(node.ctx, ast.Load)
        if name.startswith("__"):
            if loads and name in _KNOWN:
                return
            if isinstance(_enclosing_scope(parents), ast.ClassDef):
                if name == "__slots__" and not loads and _plain_slots(parents):
                    return
                if name in allowlist.SPECIAL and name != "__getattr__":
                    return
            self._private(node, name)
        elif name == "super":
            call = parents[-1]
            if not (loads and _is_called(node, call) and _is_plain_super(call)):
                self._refuse(
                    node,
                    "super() must be called directly, with no arguments or a class and an object",
                    "Write super().__init__().",
                )
        elif loads and name in allowlist.BUILTINS and name not in self._bound:
            self._refuse(
                node,
                f"{name}() is not available to a program from outside",
                allowlist.BUILTINS[name] or TRUST,
            )

    def _binding(self, node: ast.AST, name: str | None) -> None:
        if name is not None and name.startswith("__"):
            self._private(node, name)
        if name == "super":
            self._refuse(node, "super is Python's own here", "Use another name.")

    def _private(self, node: ast.AST, name: str) -> None:
        self._refuse(
            node,
            f"{name} is private to Python",
            "Names that begin with two underscores belong to Python: use another name.",
        )

    def _visit_FunctionDef(self, node: ast.FunctionDef, parents: tuple[ast.AST, ...]) -> None:
        if not node.name.startswith("__"):
            self._binding(node, node.name)
            return
        if isinstance(parents[-1], ast.ClassDef):
            if node.name in allowlist.SPECIAL or not node.name.endswith("__"):
                return
            self._refuse(
                node,
                f"A class from outside may not define {node.name}",
                "Use an ordinary method, or trust the program.",
            )
        self._private(node, node.name)

    def _visit_ClassDef(self, node: ast.ClassDef, _: tuple[ast.AST, ...]) -> None:
        self._binding(node, node.name)
        for word in node.keywords:
            if word.arg is None or word.arg == "metaclass":
                self._refuse(
                    word,
                    "A class from outside has no metaclass",
                    "Use a decorator or a base class.",
                )

    def _visit_arg(self, node: ast.arg | ast.keyword, _: tuple[ast.AST, ...]) -> None:
        self._binding(node, node.arg)

    _visit_keyword = _visit_arg

    def _visit_Global(self, node: ast.Global | ast.Nonlocal, _: tuple[ast.AST, ...]) -> None:
        for name in node.names:
            self._binding(node, name)

    _visit_Nonlocal = _visit_Global

    def _visit_MatchAs(
        self, node: ast.MatchAs | ast.MatchStar | ast.ExceptHandler, _: tuple[ast.AST, ...]
    ) -> None:
        self._binding(node, node.name)

    _visit_MatchStar = _visit_ExceptHandler = _visit_MatchAs

    def _visit_MatchMapping(self, node: ast.MatchMapping, _: tuple[ast.AST, ...]) -> None:
        self._binding(node, node.rest)

    def _visit_MatchClass(self, node: ast.MatchClass, _: tuple[ast.AST, ...]) -> None:
        for name in node.kwd_attrs:
            if name.startswith("_") or name in allowlist.GUARDED | allowlist.AMBIGUOUS:
                self._refuse(node, f"A pattern may not look at {name}", "Ask for it with an if.")
            self._attribute(node, name)

    # Attributes

    def _visit_Attribute(self, node: ast.Attribute, parents: tuple[ast.AST, ...]) -> None:
        name, loads = node.attr, isinstance(node.ctx, ast.Load)
        if name.startswith("__"):
            if name.endswith("__"):
                if not (loads and _may_be_read(node, parents[-1])):
                    self._private(node, name)
            elif not any(isinstance(p, ast.ClassDef) and p.name.strip("_") for p in parents):
                self._private(node, name)
            return
        if name not in allowlist.AMBIGUOUS or _is_torch(node.value):
            self._attribute(node, name)
        if name == "format" and loads and not _is_called(node, parents[-1]):
            self._refuse(node, "format() must be called directly", "Use an f-string.")

    def _attribute(self, node: ast.AST, name: str) -> None:
        if name in allowlist.ATTRIBUTES:
            why, instead = allowlist.ATTRIBUTES[name]
            self._refuse(node, f".{name} is refused: {why}", instead or TRUST)

    # Imports

    def _visit_Import(self, node: ast.Import, _: tuple[ast.AST, ...]) -> None:
        for alias in node.names:
            self._module(alias, alias.name)
            self._binding(alias, alias.asname)

    def _visit_ImportFrom(self, node: ast.ImportFrom, _: tuple[ast.AST, ...]) -> None:
        module = node.module or "."
        if module == "__future__":
            return
        if node.level:
            self._refuse(
                node,
                "A program from outside may not import the files beside it",
                "Copy what it needs into the program, or trust the program.",
            )
        offered = self._module(node, module)
        for alias in node.names:
            self._binding(alias, alias.asname)
            if alias.name == "*":
                self._refuse(alias, "import * is refused", "Name what you need.")
            if alias.name in allowlist.ATTRIBUTES:
                self._attribute(alias, alias.name)
            inner = self._offers(f"{module}.{alias.name}")
            if alias.name not in offered and inner is None:
                self._refuse(
                    alias,
                    f"{module}.{alias.name} is not available to a program from outside",
                    TRUST,
                )

    def _module(self, node: ast.AST, name: str) -> frozenset[str]:
        offered = self._offers(name)
        if offered is None:
            self._refuse(
                node,
                f"A program from outside may not import {name}",
                f"{_OUTSIDE} Leave it out, or trust the program.",
            )
        return offered or frozenset()

    def _refuse(self, node: ast.AST, message: str, instead: str) -> None:
        raise Refusal(message, instead, self._place(node))

    def _place(self, node: ast.AST) -> Place:
        line = getattr(node, "lineno", 0)
        if not 0 < line <= len(self._lines):
            return Place()
        column = self._column(line, getattr(node, "col_offset", 0))
        end_line = min(getattr(node, "end_lineno", None) or line, len(self._lines))
        end = self._column(end_line, getattr(node, "end_col_offset", None) or 0)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            end_line, end = line, len(self._lines[line - 1].rstrip())
        return Place(line, column, end_line, max(end, column + 1) if end_line == line else end)

    def _column(self, line: int, column: int) -> int:
        text = self._lines[line - 1]
        return len(text.encode("utf-8", "replace")[:column].decode("utf-8", "ignore"))


def _walk(tree: ast.AST) -> Iterator[tuple[ast.AST, int, tuple[ast.AST, ...]]]:
    """Yield every node in the order of the text, with its depth and its parents."""
    waiting: list[tuple[ast.AST, tuple[ast.AST, ...]]] = [(tree, ())]
    while waiting:
        node, parents = waiting.pop()
        yield node, len(parents), parents
        around = (*parents, node)
        waiting += [(child, around) for child in reversed(list(ast.iter_child_nodes(node)))]


def _bindings(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name


def _enclosing_scope(parents: tuple[ast.AST, ...]) -> ast.AST | None:
    """Return the innermost class or function around a node."""
    scopes = (ast.ClassDef, ast.FunctionDef, ast.Lambda)
    return next((item for item in reversed(parents) if isinstance(item, scopes)), None)


def _plain_slots(parents: tuple[ast.AST, ...]) -> bool:
    """Return whether ``__slots__`` is assigned literal ordinary names."""
    node = parents[-1]
    if not isinstance(node, ast.Assign):
        return False
    value = node.value
    parts = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
    names = [part.value if isinstance(part, ast.Constant) else None for part in parts]
    return all(isinstance(name, str) and not name.startswith("__") for name in names)


def _may_be_read(node: ast.Attribute, parent: ast.AST) -> bool:
    """Return whether reading a special attribute is harmless in its context."""
    name, of = node.attr, node.value
    if name in allowlist.READABLE:
        return True
    if name == "__class__":
        return isinstance(parent, ast.Attribute) and parent.attr in ("__name__", "__qualname__")
    called = _is_called(node, parent)
    return called and (name == "__init__" or (is_super(of) and name in allowlist.SPECIAL))


def _is_called(node: ast.AST, parent: ast.AST) -> bool:
    return isinstance(parent, ast.Call) and parent.func is node


def _is_plain_super(call: ast.AST) -> bool:
    """Return whether a call of ``super`` has two plain arguments, or none."""
    return (
        isinstance(call, ast.Call)
        and not call.keywords
        and len(call.args) in (0, 2)
        and not any(isinstance(item, ast.Starred) for item in call.args)
    )


def _kind_name(kind: str) -> str:
    if kind.startswith(("Async", "Await")):
        return "A coroutine"
    return {"TryStar": "except*", "TypeAlias": "A type statement"}.get(kind, kind)


def _is_torch(node: ast.expr) -> bool:
    """Return whether an expression is spelled ``torch...``, so that no run-time check is needed."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "torch"
