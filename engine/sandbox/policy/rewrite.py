"""Insert run-time guards into the tree, where a check needs the actual objects.

Imports become calls that return stand-ins; private attributes, written attributes and those in
`allowlist.GUARDED` are accessed through functions. Every node keeps its place in the text, so that
errors and line marks stay where they were.
"""

import ast
from typing import TypeVar

from gradscribe.engine.sandbox.policy import allowlist

IMPORT = "__gradscribe_module__"
IMPORT_FROM = "__gradscribe_give__"
GET = "__gradscribe_get__"
WRITE = "__gradscribe_place__"
AUGMENT = "__gradscribe_change__"
FORMAT = "__gradscribe_format__"
HIDE_DUNDERS = "__gradscribe_hide__"
SUPER = "__gradscribe_super__"
INIT = "__gradscribe_init__"

Node = TypeVar("Node", bound=ast.AST)


def insert_guards(tree: ast.Module) -> ast.Module:
    """Return the tree (changed in place) with its guards."""
    _Guard().visit(tree)
    return ast.fix_missing_locations(tree)


class _Guard(ast.NodeTransformer):
    def __init__(self) -> None:
        self._classes: list[str] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self._classes.append(node.name)
        self.generic_visit(node)
        self._classes.pop()
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        if node.name == "__getattr__":
            node.decorator_list.insert(0, _at(node, ast.Name(HIDE_DUNDERS, ast.Load())))
        return node

    def visit_Import(self, node: ast.Import) -> list[ast.AST]:
        statements: list[ast.AST] = []
        for alias in node.names:
            # `import a.b` binds a, `import a.b as c` binds b.
            top = alias.name.partition(".")[0]
            bound = _text(alias, alias.name if alias.asname else top)
            target = _at(alias, ast.Name(alias.asname or top, ast.Store()))
            value = _call(alias, IMPORT, _text(alias, alias.name), bound)
            statements.append(_at(node, ast.Assign([target], value)))
        return statements

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | list[ast.AST]:
        if node.module == "__future__":
            return node
        statements: list[ast.AST] = []
        for alias in node.names:
            value = _call(
                alias, IMPORT_FROM, _text(alias, node.module or ""), _text(alias, alias.name)
            )
            target = _at(alias, ast.Name(alias.asname or alias.name, ast.Store()))
            statements.append(_at(node, ast.Assign([target], value)))
        return statements

    def visit_Call(self, node: ast.Call) -> ast.AST:
        func = node.func
        self.generic_visit(node)
        if isinstance(func, ast.Attribute) and func.attr == "format":
            node.args.insert(0, func.value)
            node.func = _at(func, ast.Name(FORMAT, ast.Load()))
        elif isinstance(func, ast.Attribute) and func.attr == "__init__":
            if not is_super(func.value):
                node.args.insert(0, func.value)
                node.func = _at(func, ast.Name(INIT, ast.Load()))
        elif isinstance(func, ast.Name) and func.id == "super" and node.args:
            node.func = _at(func, ast.Name(SUPER, ast.Load()))
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        to = node.target
        looked_at = allowlist.GUARDED | allowlist.AMBIGUOUS
        self.generic_visit(node)
        if isinstance(to, ast.Attribute) and to.attr in looked_at:
            # It is also read: `visit_Attribute` inserted a guard for the writing alone.
            call = to.value
            assert isinstance(call, ast.Call)
            assert isinstance(call.func, ast.Name)
            call.func.id = AUGMENT
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        name = self._mangled(node.attr)
        if not isinstance(node.ctx, ast.Load):
            node.value = _call(node.value, WRITE, node.value, _text(node.value, name))
            return node
        private = name.startswith("_") and not name.endswith("__")
        if (
            private
            or name in allowlist.AMBIGUOUS
            or (name in allowlist.GUARDED and name != "format")
        ):
            return _call(node, GET, node.value, _text(node, name))
        return node

    def _mangled(self, name: str) -> str:
        """Return the name after Python's private name mangling in the current class."""
        if not name.startswith("__") or name.endswith("__") or not self._classes:
            return name
        owner = self._classes[-1].lstrip("_")
        return f"_{owner}{name}" if owner else name


def is_super(node: ast.AST) -> bool:
    """Return whether an expression is a call of ``super``, with or without its guard."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("super", SUPER)
    )


def _at(node: ast.AST, new: Node) -> Node:
    return ast.copy_location(new, node)


def _text(node: ast.AST, text: str) -> ast.expr:
    return _at(node, ast.Constant(text))


def _call(node: ast.AST, name: str, *args: ast.expr) -> ast.Call:
    return _at(node, ast.Call(_at(node, ast.Name(name, ast.Load())), list(args), []))
