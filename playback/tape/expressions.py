"""Results without a name, called by the expression that computes them: ``x1*w1``, ``tanh(n)``."""

from collections.abc import Callable

from msgspec import Struct

from gradscribe.engine.protocol.tape import Arg, Op, Value
from gradscribe.playback.tape.index import Index
from gradscribe.playback.tape.operands import operands
from gradscribe.playback.text import formatting, symbols

LONGEST = 24
"""Most characters of an expression; in a longer one the inner results are left out."""
LONGEST_LITERAL = 8
"""Most characters of a number or another argument."""
DEEPEST = 3
"""Most ops inside each other."""
HIDDEN = "…"
"""Stands for what is left out."""

SUM, PRODUCT, ATOM = 0, 1, 2
"""Precedence of an expression: a sum, a product, or anything without an operator."""

_INFIX: dict[str, tuple[str, int]] = {
    "add": (" + ", SUM), "sub": (" - ", SUM), "rsub": (" - ", SUM),
    "mul": ("*", PRODUCT), "div": ("/", PRODUCT), "rdiv": ("/", PRODUCT),
    "floor_divide": ("//", PRODUCT), "remainder": (" % ", PRODUCT),
    "matmul": (" @ ", PRODUCT), "mm": (" @ ", PRODUCT), "mv": (" @ ", PRODUCT),
    "pow": ("**", PRODUCT), "rpow": ("**", PRODUCT),
    "gt": (" > ", SUM), "lt": (" < ", SUM), "ge": (" >= ", SUM), "le": (" <= ", SUM),
    "eq": (" == ", SUM), "ne": (" != ", SUM),
}  # fmt: skip


class Expression(Struct, frozen=True):
    """The text of an expression, and how tightly it holds together."""

    text: str
    binding: int = ATOM

    def inside(self, binding: int) -> str:
        """Return the text as a part of an expression, in parentheses where it needs them."""
        return f"({self.text})" if self.binding < binding else self.text


def value_expression(
    index: Index, number: int, spell: Callable[[str], str] = str
) -> Expression | None:
    """Return what computes a value, with names as ``spell`` writes them.

    None for a value that no op made, and where no operand of the op can be named shortly.
    """
    value = index.values[number]
    if value.op is None:
        return None
    for depth in range(DEEPEST, 0, -1):
        found = _Writer(index, spell).of_op(value, depth)
        if len(found.text) <= LONGEST:
            return found if any(c.isalnum() for c in _operands_text(found, index, value)) else None
    return None


def _operands_text(found: Expression, index: Index, value: Value) -> str:
    """Return an expression without the name of its op."""
    assert value.op is not None
    return found.text.replace(symbols.op_title(index.op(value.op)), "", 1)


class _Writer:
    """Writes the expression of one value."""

    def __init__(self, index: Index, spell: Callable[[str], str]) -> None:
        self._index, self._spell = index, spell

    def of_value(self, value: Value, depth: int) -> Expression:
        """Return the name of a value, or what computes it, down to ``depth`` ops."""
        name = own_name(self._index, value)
        if name:
            return Expression(self._spell(name))
        if value.op is None:
            return Expression(value.maker.rsplit(".", 1)[-1] or HIDDEN)
        return self.of_op(value, depth) if depth > 0 else Expression(HIDDEN)

    def of_op(self, value: Value, depth: int) -> Expression:
        """Return the expression of the op that made a value."""
        assert value.op is not None
        op = self._index.op(value.op)
        made = self._written(op, depth)
        if len(op.outputs) > 1 and value.id in op.outputs:
            return Expression(f"{made.inside(ATOM)}[{op.outputs.index(value.id)}]")
        return made

    def _written(self, op: Op, depth: int) -> Expression:
        name, given = symbols.canonical_name(op.op), operands(op)
        plain = [arg for arg in given if not arg.keyword]
        if name in _INFIX and len(plain) == len(given) == 2:
            sign, binding = _INFIX[name]
            left, right = (self._operand(arg, depth) for arg in plain)
            if sign == "**":
                return Expression(f"{left.inside(ATOM)}**{right.inside(ATOM)}", binding)
            # What follows a minus or a division is grouped also where it binds as tightly.
            return Expression(f"{left.inside(binding)}{sign}{right.inside(binding + 1)}", binding)
        if name == "neg" and len(plain) == 1:
            return Expression(f"-{self._operand(plain[0], depth).inside(ATOM)}", SUM)
        first = self._operand(plain[0], depth) if plain else Expression(HIDDEN)
        if name in ("T", "t", "mT") and len(plain) == 1:
            return Expression(f"{first.inside(ATOM)}.{name if name != 't' else 'T'}")
        if name in ("index", "select") and (where := symbols.note(op)).startswith("["):
            return Expression(first.inside(ATOM) + where)
        if sum(arg.value is not None for arg in plain) > 2:
            return Expression(f"{symbols.op_title(op)}({first.text}, {HIDDEN})")
        parts = [self._operand(arg, depth).text for arg in plain]
        return Expression(f"{symbols.op_title(op)}({', '.join(parts)})")

    def _operand(self, arg: Arg, depth: int) -> Expression:
        if arg.value is not None:
            return self.of_value(self._index.values[arg.value], depth - 1)
        if arg.name:
            return Expression(self._spell(arg.name))
        text = formatting.trim_zeros(arg.number) if arg.number is not None else arg.text
        text = text.replace(formatting.MINUS, "-") if len(text) <= LONGEST_LITERAL else HIDDEN
        return Expression(text, SUM if text.startswith("-") else ATOM)


def own_name(index: Index, value: Value) -> str:
    """Return a value's name in the program without the path of its module; "" for none."""
    name = value.name or (
        index.values[index.first_version(value.id)].name if value.node is None else ""
    )
    last = name.rsplit(".", 1)
    return last[-1] if len(last) > 1 and last[-1].isidentifier() else name
