"""Expressions of lessons about a tape, interpreted from their syntax tree without ``eval``.

The syntax is Python's, restricted to numbers, names of tensors as arguments of the functions in
`playback.lessons.tape_functions`, comparisons, arithmetic, ``and``, ``or``, ``not``, ``in`` and
lists. Other attributes than those of ``error``, and other calls, are rejected.
"""

import ast
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gradscribe.playback.code.places import UnknownPlace
from gradscribe.playback.lessons import tape_functions
from gradscribe.playback.lessons.tape_functions import Answer, NotOnTape
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import parse

LONGEST = 400
LARGEST = 1 << 63
"""Bound of integers: those of NumPy are smaller."""
MOST_ELEMENTS = 1 << 20
"""Most elements of a result: a column broadcast with a row becomes a table."""
CLOSE = 1e-6
"""Relative tolerance of equality: float32 has about seven digits."""


_FAILURES = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Exceptions that facts and NumPy raise for expressions that make no sense."""


class BadExpression(ValueError):
    """The text is not a valid expression."""


def evaluate(expression: str, index: Index) -> Answer:
    """Evaluate an expression on a tape.

    Raises:
        BadExpression: it is not valid, or cannot be computed (``1 / 0``).
        Missing: it refers to something that the tape does not have.
    """
    if len(expression) > LONGEST:
        raise BadExpression(f"longer than {LONGEST} characters")
    try:
        tree = parse.parse_expression(expression.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise BadExpression(f"{expression!r} is not an expression") from error
    try:
        with np.errstate(all="ignore"):
            return _Interpreter(index).read(tree.body)
    except (BadExpression, NotOnTape):
        raise
    except UnknownPlace as error:
        raise NotOnTape(str(error)) from error
    except _FAILURES as error:
        raise BadExpression(f"{expression!r}: {error}") from error


def is_true(expression: str, index: Index) -> bool:
    """Return whether an expression is true on a tape; False where the tape lacks its subject.

    Raises:
        BadExpression: it is not valid.
    """
    try:
        return _truth(evaluate(expression, index))
    except NotOnTape:
        return False


def is_equal(left: Answer, right: Answer, tolerance: float = CLOSE) -> bool:
    """Return whether two answers are equal, numbers within a relative ``tolerance``."""
    if left is None or right is None or isinstance(left, str) or isinstance(right, str):
        return left is right if left is None or right is None else left == right
    try:
        a, b = np.asarray(left), np.asarray(right)
    except ValueError:
        return False
    if a.shape != b.shape or "O" in a.dtype.kind + b.dtype.kind:
        return False
    if a.dtype.kind not in "biufc" or b.dtype.kind not in "biufc":
        return bool(np.all(a == b))
    if "c" not in a.dtype.kind + b.dtype.kind:
        a, b = a.astype("f8"), b.astype("f8")
    return bool(np.allclose(a, b, rtol=tolerance, atol=1e-12, equal_nan=True))


_ARITHMETIC: dict[type[ast.AST], Callable[..., object]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.true_divide,
    ast.FloorDiv: np.floor_divide,
    ast.Mod: np.mod,
    ast.Pow: np.float_power,  # in floats, so that 9**9**9 terminates
}
_ORDER: dict[type[ast.AST], Callable[..., object]] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
}


class _Interpreter:
    def __init__(self, index: Index) -> None:
        self._index = index

    def read(self, node: ast.AST) -> Answer:
        match node:
            case ast.Constant(value=int() as value) if abs(value) >= LARGEST:
                raise BadExpression("a whole number has 18 digits at most")
            case ast.Constant(value=value) if isinstance(value, bool | int | float | str | None):
                return value
            case ast.List(elts=elts) | ast.Tuple(elts=elts):
                return [self.read(node_) for node_ in elts]
            case ast.UnaryOp(op=op, operand=operand):
                return self._unary(op, self.read(operand))
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(op, self.read(left), self.read(right))
            case ast.BoolOp(op=op, values=values):
                parts = (_truth(self.read(node_)) for node_ in values)
                return all(parts) if isinstance(op, ast.And) else any(parts)
            case ast.Compare():
                return self._compare(node)
            case ast.Subscript(value=value, slice=key):
                return self._item(self.read(value), self.read(key))
            case ast.Attribute(value=ast.Name(id="error"), attr=attr):
                return tape_functions.error(self._index, attr)
            case ast.Name(id="error"):
                return tape_functions.error(self._index, "type")
            case ast.Name(id="inf" | "nan" as name):
                return getattr(math, name)  # type: ignore[no-any-return]
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
                return self._call(name, args, keywords)
        raise BadExpression(f"{ast.unparse(node)!r} is not allowed here")

    def _unary(self, op: ast.AST, operand: Answer) -> Answer:
        if isinstance(op, ast.Not):
            return not _truth(operand)
        return _bare(np.negative(_array(operand))) if isinstance(op, ast.USub) else operand

    def _binary(self, op: ast.AST, left: Answer, right: Answer) -> Answer:
        if type(op) not in _ARITHMETIC:
            raise BadExpression(f"no operator {type(op).__name__}")
        return _bare(_ARITHMETIC[type(op)](*_pair(left, right)))

    def _compare(self, node: ast.Compare) -> bool:
        left = self.read(node.left)
        for op, other in zip(node.ops, node.comparators, strict=True):
            right = self.read(other)
            if not self._compare_pair(op, left, right):
                return False
            left = right
        return True

    def _compare_pair(self, op: ast.AST, left: Answer, right: Answer) -> bool:
        if isinstance(op, ast.Eq | ast.Is):
            return is_equal(left, right)
        if isinstance(op, ast.NotEq | ast.IsNot):
            return not is_equal(left, right)
        if isinstance(op, ast.In | ast.NotIn):
            if isinstance(right, str):
                inside = isinstance(left, str) and left in right
            else:
                inside = any(is_equal(left, item) for item in _items(right))
            return inside is isinstance(op, ast.In)
        return _truth(_bare(_ORDER[type(op)](*_pair(left, right))))

    def _item(self, of: Answer, key: Answer) -> Answer:
        if not isinstance(key, int):
            raise BadExpression("an index is a whole number")
        return _items(of)[key]

    def _call(self, name: str, args: list[ast.expr], keywords: list[ast.keyword]) -> Answer:
        if name in _PLAIN:
            if keywords:
                raise BadExpression(f"{name} takes no keywords")
            return _PLAIN[name](*[self.read(argument) for argument in args])
        fact = tape_functions.FUNCTIONS.get(name)
        if fact is None:
            raise BadExpression(f"there is no {name}()")
        given = {word.arg: self.read(word.value) for word in keywords if word.arg}
        try:
            return fact(self._index, *[self._name_or_value(argument) for argument in args], **given)
        except TypeError as error:
            raise BadExpression(f"{name}: {error}") from error

    def _name_or_value(self, node: ast.expr) -> Answer:
        """Return a tensor's name unevaluated, else the value of the argument."""
        if isinstance(node, ast.Name | ast.Attribute):
            return ast.unparse(node)
        return self.read(node)


def _truth(found: Answer) -> bool:
    return bool(np.all(found)) if isinstance(found, np.ndarray) else bool(found)


def _array(found: Answer) -> NDArray[np.generic]:
    if isinstance(found, str) or found is None:
        raise BadExpression(f"{found!r} is no number")
    return np.asarray(found)


def _pair(left: Answer, right: Answer) -> tuple[NDArray[np.generic], NDArray[np.generic]]:
    """Return two arrays that can be broadcast to a result of limited size."""
    first, second = _array(left), _array(right)
    if math.prod(np.broadcast_shapes(first.shape, second.shape)) > MOST_ELEMENTS:
        raise BadExpression(f"more than {MOST_ELEMENTS:,} numbers")
    return first, second


def _bare(found: object) -> Answer:
    array = np.asarray(found)
    return array if array.ndim else array.item()


def _items(found: Answer) -> list[Answer]:
    if isinstance(found, np.ndarray):
        return [element if element.ndim else element.item() for element in map(np.asarray, found)]
    if isinstance(found, list):
        return found
    raise BadExpression("only a list or a tensor has items")


def _near(left: Answer, right: Answer, tolerance: Answer = 0.01) -> bool:
    """Return whether numbers differ by at most ``tolerance`` (absolute)."""
    if left is None or right is None:
        return False
    first, second = _pair(left, right)
    gap = np.abs(np.subtract(first.astype("f8"), second.astype("f8")))
    return bool(np.all(gap <= _array(tolerance)))


def _reduction(function: Callable[..., object]) -> Callable[..., Answer]:
    def reduce(*found: Answer) -> Answer:
        return _bare(function(_array(found[0] if len(found) == 1 else list(found))))

    return reduce


def _elementwise(function: Callable[..., object]) -> Callable[[Answer], Answer]:
    def each(found: Answer) -> Answer:
        return _bare(function(_array(found)))

    return each


def _length(found: Answer) -> int:
    return len(found) if isinstance(found, str) else len(_items(found))


_PLAIN: dict[str, Callable[..., Answer]] = {
    "near": _near,
    "len": _length,
    "abs": _elementwise(np.abs),
    "sqrt": _elementwise(np.sqrt),
    "exp": _elementwise(np.exp),
    "log": _elementwise(np.log),
    "round": _elementwise(np.round),
    "isnan": _elementwise(np.isnan),
    "min": _reduction(np.min),
    "max": _reduction(np.max),
    "sum": _reduction(np.sum),
    "mean": _reduction(np.mean),
    "any": _reduction(np.any),
    "all": _reduction(np.all),
}
