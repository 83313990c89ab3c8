"""Operands of a failing expression, with their actual shapes, dtypes and devices."""

import ast
import re
from collections.abc import Iterator, Mapping

import torch
from torch import nn

from gradscribe.engine.hints.advice import HintContext

MOST = 3
"""Maximum number of operands to list."""

_DTYPE = re.compile(r"dtype|scalar type|Long|Float|Double|Half|Int\b", re.IGNORECASE)
_DEVICE = re.compile(r"device|cuda|meta", re.IGNORECASE)


def described(case: HintContext) -> str:
    """Return ``Here x is (4, 5) and self.fc is Linear(3, 2).``; empty if nothing is known."""
    message = str(case.exc)
    found = [
        (
            name,
            _tensor(thing, message) if isinstance(thing, torch.Tensor) else _module(thing, message),
        )
        for name, thing in operands(case)[:MOST]
    ]
    # A sentence for each count, as what is joined by a loop has no translation.
    match found:
        case [(a, first)]:
            return f"Here {a} is {first}."
        case [(a, first), (b, second)]:
            return f"Here {a} is {first} and {b} is {second}."
        case [(a, first), (b, second), (c, third)]:
            return f"Here {a} is {first} and {b} is {second} and {c} is {third}."
    return ""


def operands(case: HintContext) -> list[tuple[str, torch.Tensor | nn.Module]]:
    """Return the variables and fields of the failing code that are tensors or modules."""
    result: dict[str, torch.Tensor | nn.Module] = {}
    changed = _changed(case.code)
    for node in ([changed] if changed is not None else []) + list(_reads(case.code)):
        thing = value(node, case.scope)
        if isinstance(thing, torch.Tensor) or (
            isinstance(thing, nn.Module) and (thing.extra_repr() or not list(thing.children()))
        ):
            result.setdefault(ast.unparse(node), thing)
    return list(result.items())


def binary_operands(case: HintContext) -> list[tuple[str, torch.Tensor]]:
    """Return the operands of a product or a sum, as written, that are known tensors."""
    tree = parse_expression(case.code)
    pair: list[ast.expr] = []
    changed = _changed(case.code)
    if changed is not None and tree is not None:
        pair = [changed, tree]
    elif isinstance(tree, ast.BinOp):
        pair = [tree.left, tree.right]
    elif isinstance(tree, ast.Call) and len(tree.args) == 2:
        pair = list(tree.args)
    elif (
        isinstance(tree, ast.Call) and len(tree.args) == 1 and isinstance(tree.func, ast.Attribute)
    ):
        pair = [tree.func.value, tree.args[0]]
    values = [(ast.unparse(node), value(node, case.scope)) for node in pair]
    return [(name, thing) for name, thing in values if isinstance(thing, torch.Tensor)]


def value(node: ast.AST, scope: Mapping[str, object]) -> object:
    """Return the value of a name or a field, without running any code of the program."""
    if isinstance(node, ast.Name):
        return scope.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = value(node.value, scope)
        if node.attr == "T" and isinstance(owner, torch.Tensor) and owner.dim() == 2:
            return owner.T
        fields = vars(owner) if hasattr(owner, "__dict__") else {}
        for values in (fields, *(fields.get(f"_{kind}", {}) for kind in _KINDS)):
            if isinstance(values, dict) and node.attr in values:
                return values[node.attr]
    return None


_KINDS = ("modules", "parameters", "buffers")


def broadcast_fix(name: str, shape_now: torch.Size, other: torch.Size) -> str:
    """Return an expression of ``name`` that makes it broadcast with shape ``other``; else empty."""
    tries: list[tuple[str, tuple[int, ...]]] = []
    if len(shape_now) == 1:
        tries.append((f"{name}.unsqueeze(1)", (*shape_now, 1)))
    if len(shape_now) == 2:
        tries.append((f"{name}.T", (shape_now[1], shape_now[0])))
    if len(shape_now) > 1 and shape_now[-1] == 1:
        tries.append((f"{name}.squeeze(-1)", tuple(shape_now[:-1])))
    for text, shape in tries:
        if _broadcasts(shape, tuple(other)):
            return text
    return ""


def _broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    pairs = zip(reversed(a), reversed(b), strict=False)
    return all(x == y or 1 in (x, y) for x, y in pairs)


def _reads(code: str) -> Iterator[ast.expr]:
    """Yield names and fields in source order, a field before its owner."""
    tree = parse_expression(code)
    stack: list[ast.AST] = [tree] if tree is not None else []
    while stack:
        node = stack.pop(0)
        if isinstance(node, ast.Name | ast.Attribute):
            yield node
        if isinstance(node, ast.Call):
            stack[:0] = [*node.args, *(word.value for word in node.keywords), node.func]
        else:
            stack[:0] = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]


def parse_expression(code: str) -> ast.expr | None:
    """Return the expression that a statement is or assigns; None if it has none."""
    expression = getattr(_statement(code), "value", None)
    return expression if isinstance(expression, ast.expr) else None


def _changed(code: str) -> ast.expr | None:
    """Return the target of an augmented assignment like ``x += y``."""
    statement = _statement(code)
    return statement.target if isinstance(statement, ast.AugAssign) else None


def _statement(code: str) -> ast.stmt | None:
    body = parse_program(code.strip()).body
    return body[0] if len(body) == 1 else None


def parse_program(source: str) -> ast.Module:
    """Return the tree of a program, empty if it is no valid Python."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _tensor(t: torch.Tensor, message: str) -> str:
    shape = f"({', '.join(map(str, t.shape))}{',' if t.dim() == 1 else ''})"
    if _DEVICE.search(message):
        return f"on {t.device}"
    return f"{shape} {str(t.dtype).removeprefix('torch.')}" if _DTYPE.search(message) else shape


def _module(module: nn.Module, message: str) -> str:
    about = module.extra_repr()
    for word in ("in_features=", "out_features="):
        about = about.replace(word, "")
    about = about.replace(", bias=True", "")
    first = next(iter(module.parameters()), None)
    where = ""
    if first is not None and _DEVICE.search(message):
        where = f" on {first.device}"
    elif first is not None and _DTYPE.search(message):
        where = f" in {str(first.dtype).removeprefix('torch.')}"
    while len(about) > 40 and ", " in about:
        about = about.rpartition(", ")[0]
    return f"{type(module).__name__}({about}){where}"
