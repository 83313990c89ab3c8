"""Parser of the last line of a lab program: its op, tensors and other arguments."""

import ast
from collections.abc import Mapping
from typing import NamedTuple

from gradscribe.playback.lab.axes import Shape
from gradscribe.playback.text import parse

_MODULES = {"torch", "F", "np", "linalg", "special"}


class ParsedCall(NamedTuple):
    """An op with its operands in order: a `Tensor` for each tensor, else a plain value.

    ``names`` are the operands' source texts; ``keywords`` the named arguments; ``unread`` is True
    if an operand is neither a known tensor nor a literal.
    """

    op: str
    operands: tuple[Shape | object, ...]
    names: tuple[str, ...]
    keywords: Mapping[str, object]
    has_unknown: bool = False


class Tensor(NamedTuple):
    """An operand that is a tensor."""

    name: str
    shape: Shape


class UnknownOperand:
    """An operand whose value is unknown without running the program."""


def parse_last_line(source: str, shapes: Mapping[str, Shape]) -> ParsedCall | None:
    """Return the op of the last line of ``source``; None if that is not a single op."""
    try:
        tree = parse.parse_program(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    last = tree.body[-1] if tree.body else None
    value = last.value if isinstance(last, ast.Expr | ast.Assign | ast.AnnAssign) else None
    return None if value is None else _read(value, shapes)


def _read(node: ast.expr, shapes: Mapping[str, Shape]) -> ParsedCall | None:
    match node:
        case ast.BinOp(left, ast.MatMult(), right):
            return _call("matmul", [left, right], [], shapes)
        case ast.BinOp(left, operation, right) | ast.Compare(left, [operation], [right]):
            return _call(type(operation).__name__.lower(), [left, right], [], shapes)
        case ast.UnaryOp(ast.USub(), operand):
            return _call("neg", [operand], [], shapes)
        case ast.Subscript(ast.Name(), index):
            return _call("getitem", [node.value, index], [], shapes)
        case ast.Attribute(owner, "T" | "mT" | "H" | "mH" as name):
            return _call(name, [owner], [], shapes)
        case ast.Call(ast.Attribute(owner, name), arguments, keywords):
            is_function = isinstance(owner, ast.Name) and owner.id in _MODULES
            is_function = is_function or isinstance(owner, ast.Attribute)
            parts = arguments if is_function else [owner, *arguments]
            return _call(name, parts, keywords, shapes)
    return None


def _call(
    op: str, parts: list[ast.expr], keywords: list[ast.keyword], shapes: Mapping[str, Shape]
) -> ParsedCall:
    operands = tuple(_operand(part, shapes) for part in parts)
    named = {k.arg or "": _operand(k.value, shapes) for k in keywords}
    unread = any(isinstance(operand, UnknownOperand) for operand in (*operands, *named.values()))
    return ParsedCall(op, operands, tuple(ast.unparse(part) for part in parts), named, unread)


def _operand(node: ast.expr, shapes: Mapping[str, Shape]) -> object:
    if isinstance(node, ast.Name):
        if node.id in shapes:
            return Tensor(node.id, shapes[node.id])
        parts = [name for name in shapes if name.startswith(f"{node.id}[")]
        return [Tensor(name, shapes[name]) for name in parts] if parts else UnknownOperand()
    if isinstance(node, ast.List | ast.Tuple):
        return [_operand(part, shapes) for part in node.elts]
    if isinstance(node, ast.Slice):
        ends = (node.lower, node.upper, node.step)
        numbers = [None if end is None else _operand(end, shapes) for end in ends]
        return (
            UnknownOperand()
            if any(isinstance(n, UnknownOperand) for n in numbers)
            else slice(*numbers)
        )
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return UnknownOperand()
