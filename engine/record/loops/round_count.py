"""Number of rounds that a ``for`` statement will have, where its text and its names tell."""

import ast
import operator
from collections.abc import Callable, Mapping

from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

MOST_ROUNDS = 1 << 31
_WRAPPERS = ("enumerate", "tqdm", "track", "list", "reversed", "sorted")
"""Functions whose result has as many elements as their first argument."""
_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}
_SIZED = (range, list, tuple)
Names = Mapping[str, object]


def round_count(iterated: ast.expr | None, names: Names) -> int | None:
    """Return the number of elements of what a loop iterates over; None if that is not clear.

    Looks at integers and at Python's own containers only, and runs none of the program's code.
    """
    try:
        count = _length(iterated, names)
    except (KeyError, ValueError, ZeroDivisionError, OverflowError, RecursionError):
        return None
    return count if count is not None and 0 <= count < MOST_ROUNDS else None


def _length(node: ast.expr | None, names: Names) -> int | None:
    if isinstance(node, ast.Name):
        thing = names[node.id]
        return len(thing) if type(thing) in _SIZED else None  # type: ignore[arg-type]
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    called = node.func
    name = called.id if isinstance(called, ast.Name) else ""
    name = called.attr if isinstance(called, ast.Attribute) else name
    if name in ("range", "trange"):
        numbers = [_number(argument, names) for argument in node.args]
        return len(range(*numbers)) if 1 <= len(numbers) <= 3 else None
    if name in _WRAPPERS and len(node.args) == 1:
        return _length(node.args[0], names)
    return None


def _number(node: ast.expr, names: Names) -> int:
    """Return an integer of the text.

    Raises:
        ValueError: it is something else.
    """
    number: object
    if isinstance(node, ast.Constant):
        number = node.value
    elif isinstance(node, ast.Name):
        number = names[node.id]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(node.operand, names)
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_number(node.left, names), _number(node.right, names))
    else:
        raise ValueError("no integer")
    if type(number) is not int or abs(number) > MOST_ROUNDS:
        raise ValueError("no integer")
    return number
