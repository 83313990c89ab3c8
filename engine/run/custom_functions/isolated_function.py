"""A custom ``autograd.Function`` rebuilt from its source text, apart from the program.

Only text without effects is accepted: computation with tensors and numbers, by those functions of
torch, math and numpy that compute. Anything else (files, the program's variables, modules) makes a
class unsuitable, and then nothing of it runs.
"""

import ast
import builtins
import math
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd.function import once_differentiable
from torch.overrides import get_overridable_functions

from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

FILENAME = "<custom function>"
_ROOTS: dict[str, object] = {
    "torch": torch,
    "torch.Tensor": torch.Tensor,
    "torch.nn": nn,
    "torch.nn.functional": F,
    "torch.autograd": torch.autograd,
    "torch.autograd.function": torch.autograd.function,
    "torch.autograd.Function": torch.autograd.Function,
    "torch.autograd.function.once_differentiable": once_differentiable,
    "math": math,
    "numpy": np,
}
_IMPLICIT = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", "math": "math"} | {
    "np": "numpy"
}
"""Names that a program has without importing them."""
_BUILTINS = {name: getattr(builtins, name) for name in (
    "abs all any bool dict enumerate float int isinstance len list max min pow range reversed "
    "round sorted staticmethod sum tuple zip ValueError TypeError RuntimeError AssertionError "
    "NotImplementedError __build_class__"
).split()}  # fmt: skip
_NUMPY = frozenset("array asarray zeros ones full zeros_like ones_like where dot sum".split())
_NEVER = frozenset(
    "register_hook register_post_accumulate_grad_hook backward retain_grad requires_grad_ set_ "
    "share_memory_ storage untyped_storage data_ptr resize_ cuda pin_memory from_file".split()
)
_OTHERS = frozenset(
    "zeros ones full empty arange linspace eye tensor to float double half long int bool item size "
    "numel dim tolist detach append no_grad enable_grad device finfo zeros_like ones_like "
    "from_numpy numpy cpu full_like rand_like randn_like empty_like new_zeros new_ones".split()
)
_ATTRIBUTES = frozenset("shape dtype device ndim T mT requires_grad data real imag eps max".split())
_CODE = (
    ast.stmt, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple, ast.List,
    ast.Subscript, ast.Slice, ast.Starred, ast.Constant, ast.Name, ast.Attribute, ast.Call,
    ast.keyword, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.JoinedStr,
    ast.FormattedValue, ast.ListComp, ast.GeneratorExp, ast.comprehension, ast.withitem,
    ast.arguments, ast.arg,
)  # fmt: skip
_STATEMENTS = (
    ast.Return, ast.Expr, ast.Assign, ast.AugAssign, ast.If, ast.For, ast.Pass, ast.Raise,
    ast.Assert, ast.With, ast.Break, ast.Continue,
)  # fmt: skip


class NotIsolated(Exception):
    """The class uses something that is not known to be without effects."""


@cache
def _computing() -> frozenset[str]:
    """Return the names of torch's functions and methods that compute."""
    names = {
        getattr(function, "__name__", "")
        for functions in get_overridable_functions().values()
        for function in functions
    }
    return frozenset(n for n in names | _OTHERS if n and not n.startswith("_")) - _NEVER


def custom_functions(tree: ast.Module) -> dict[str, ast.ClassDef]:
    """Return the program's own Functions; a name that several classes share is left out."""
    found: dict[str, list[ast.ClassDef]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            found.setdefault(node.name, []).append(node)
    usual = ("Function", "autograd.Function", "torch.autograd.Function")
    return {
        name: nodes[0]
        for name, nodes in found.items()
        if len(nodes) == 1 and [ast.unparse(b) in usual for b in nodes[0].bases] == [True]
    }


def isolated_function(tree: ast.Module, name: str) -> type[torch.autograd.Function]:
    """Return a copy of the custom Function ``name`` that shares nothing with the program's.

    Raises `NotIsolated` if it uses anything else than computation.
    """
    parts = _Parts(tree)
    own = parts.take_class(custom_functions(tree)[name])
    module = ast.Module([*parts.functions.values(), own], [])
    names = parts.names
    exec(compile(ast.fix_missing_locations(module), FILENAME, "exec"), names)
    made = names[name]
    if not (isinstance(made, type) and issubclass(made, torch.autograd.Function)):
        raise NotIsolated(name)
    return made


class _Parts:
    """Everything that a class's text refers to, collected and checked."""

    def __init__(self, tree: ast.Module) -> None:
        self._imports = _imports(tree)
        self._globals: dict[str, list[ast.stmt]] = {}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                self._globals.setdefault(node.name, []).append(node)
        for inner in ast.walk(tree):
            if isinstance(inner, ast.Assign | ast.AugAssign | ast.For | ast.Global):
                for name in _stored(inner):
                    self._globals.setdefault(name, []).append(inner)
        self.functions: dict[str, ast.FunctionDef] = {}
        self.names: dict[str, object] = {
            "__builtins__": {**_BUILTINS, "print": lambda *_, **__: None},
            "__name__": FILENAME,
        }

    def take_class(self, node: ast.ClassDef) -> ast.ClassDef:
        """Check a Function's class, and return it without annotations and docstrings."""
        if node.keywords or node.decorator_list:
            raise NotIsolated(node.name)
        body: list[ast.stmt] = []
        methods = {m.name for m in node.body if isinstance(m, ast.FunctionDef)}
        for item in node.body:
            if isinstance(item, ast.FunctionDef):
                body.append(self._function(item, node.name, methods))
            elif isinstance(item, ast.Assign) and _is_number(item.value):
                body.append(item)
            elif not isinstance(item, ast.Pass) and not _is_text(item):
                raise NotIsolated(node.name)
        self._resolve(node.bases[0])
        return ast.ClassDef(node.name, node.bases, [], body or [ast.Pass()], [])

    def _function(self, node: ast.FunctionDef, owner: str, methods: set[str]) -> ast.FunctionDef:
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
        local = {a.arg for a in every} | {
            n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        context = every[0].arg if every and owner else ""
        check = _Check(self, local, context, owner, methods)
        for statement in [*node.body, *arguments.defaults, *filter(None, arguments.kw_defaults)]:
            check.visit(statement)
        for decorator in node.decorator_list:
            if ast.unparse(decorator) != "staticmethod":
                self._resolve(decorator)
        return _without_annotations(node)

    def _resolve(self, node: ast.expr) -> object:
        """Return what a dotted name of an accepted module refers to; bind its first name."""
        head, *rest = ast.unparse(node).split(".")
        path = ".".join([self._imports.get(head, ""), *rest])
        if path in _ROOTS:
            found = _ROOTS[path]
        else:
            owner, _, last = path.rpartition(".")
            if owner not in _ROOTS or not _is_computing(_ROOTS[owner], last):
                raise NotIsolated(path)
            found = getattr(_ROOTS[owner], last)
        self._bind(head)
        return found

    def _bind(self, head: str) -> None:
        path = self._imports[head]
        owner, _, last = path.rpartition(".")
        self.names[head] = _ROOTS[path] if path in _ROOTS else getattr(_ROOTS[owner], last)

    def take_name(self, name: str) -> None:
        """Take over a global that a method reads: a module, a constant or a function."""
        if name in self.functions or name in self.names or name in _BUILTINS or name == "print":
            return
        rows = self._globals.get(name, [])
        if not rows and name in self._imports:
            self._resolve(ast.Name(name, ast.Load()))
        elif len(rows) == 1 and isinstance(rows[0], ast.FunctionDef):
            self.functions[name] = rows[0]
            self.functions[name] = self._function(rows[0], "", set())
        elif len(rows) == 1 and isinstance(rows[0], ast.Assign) and _is_number(rows[0].value):
            self.names[name] = ast.literal_eval(rows[0].value)
        else:
            raise NotIsolated(name)

    def take_path(self, node: ast.Attribute) -> bool:
        """Take over ``torch.exp`` and the like; return False if the path is no module's."""
        head = ast.unparse(node).partition(".")[0]
        if head not in self._imports or self._globals.get(head):
            return False
        self._resolve(node)
        return True


class _Check(ast.NodeVisitor):
    """Check of a function's statements; raises `NotIsolated`."""

    def __init__(
        self, parts: _Parts, local: set[str], context: str, owner: str, methods: set[str]
    ) -> None:
        self._parts, self._local, self._context = parts, local, context
        self._owner, self._methods = owner, methods

    def visit(self, node: ast.AST) -> None:
        """Check a node and those in it."""
        if not isinstance(node, _CODE) or (
            isinstance(node, ast.stmt) and not isinstance(node, _STATEMENTS)
        ):
            raise NotIsolated(type(node).__name__)
        super().visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """Accept local names and what the parts accept."""
        if node.id not in self._local and node.id != self._owner:
            if node.id.startswith("_") or not isinstance(node.ctx, ast.Load):
                raise NotIsolated(node.id)
            self._parts.take_name(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Accept paths in modules, the context's attributes and tensors' plain ones."""
        name, owner = node.attr, node.value
        if name.startswith("_"):
            raise NotIsolated(name)
        root = owner.id if isinstance(owner, ast.Name) else ""
        if root == self._context and root:
            return
        if root == self._owner and root and name in self._methods:
            return
        if _is_path(node) and _head(node) not in self._local and self._parts.take_path(node):
            return
        if not isinstance(node.ctx, ast.Load) or name not in _computing() | _ATTRIBUTES:
            raise NotIsolated(name)
        self.visit(owner)


def _is_path(node: ast.expr) -> bool:
    parts = ast.Attribute | ast.Name | ast.expr_context
    return all(isinstance(part, parts) for part in ast.walk(node))


def _head(node: ast.expr) -> str:
    return ast.unparse(node).partition(".")[0]


def _is_computing(owner: object, name: str) -> bool:
    if name.startswith("_") or not hasattr(owner, name):
        return False
    if owner is math:
        return True
    thing = getattr(owner, name)
    if owner is np:
        return isinstance(thing, np.ufunc) or name in _NUMPY
    return isinstance(thing, torch.dtype | float) or (owner in (torch, F) and name in _computing())


def _imports(tree: ast.Module) -> dict[str, str]:
    """Return what imported names refer to: ``{"F": "torch.nn.functional"}``."""
    found = dict(_IMPLICIT)
    for node in tree.body:
        if isinstance(node, ast.Import):
            for item in node.names:
                head = item.name.partition(".")[0]
                found[item.asname or head] = item.name if item.asname else head
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for item in node.names:
                found[item.asname or item.name] = f"{node.module}.{item.name}"
    return found


def _stored(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Global):
        return set(node.names)
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]  # type: ignore[attr-defined]
    return {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}


def _is_number(node: ast.expr) -> bool:
    try:
        return isinstance(ast.literal_eval(node), int | float)
    except ValueError:
        return False


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _without_annotations(node: ast.FunctionDef) -> ast.FunctionDef:
    given = node.args

    def bare(arguments: list[ast.arg]) -> list[ast.arg]:
        return [ast.arg(a.arg) for a in arguments]

    arguments = ast.arguments(
        bare(given.posonlyargs),
        bare(given.args),
        ast.arg(given.vararg.arg) if given.vararg else None,
        bare(given.kwonlyargs),
        given.kw_defaults,
        ast.arg(given.kwarg.arg) if given.kwarg else None,
        given.defaults,
    )
    return ast.FunctionDef(node.name, arguments, node.body, node.decorator_list, None)
