"""Rules of ops: formula, explanation of the gradient, local derivatives."""

import importlib
import math
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from gradscribe.engine import plugins
from gradscribe.playback.explain import ops as families


class CallNumbers(NamedTuple):
    """Numbers of a scalar call: operands (tensors and literals), result, numeric keywords."""

    inputs: tuple[float, ...]
    output: float
    options: dict[str, float]

    @property
    def x(self) -> float:
        """The first operand."""
        return self.inputs[0]

    def option(self, place: int, keyword: str, default: float) -> float:
        """Return a positional or keyword setting, else its default."""
        if len(self.inputs) > place:
            return self.inputs[place]
        return self.options.get(keyword, default)


class Slope(NamedTuple):
    """The derivative of an elementwise op with respect to an operand.

    ``text`` is a template: ``{a}``, ``{b}``, ``{c}`` are the operands, ``{y}`` the result; it may
    depend on the numbers. ``value`` returns the number, or raises ArithmeticError or ValueError.
    Unknown numbers are NaN.
    """

    text: str | Callable[[CallNumbers], str]
    value: Callable[[CallNumbers], float]

    def written(self, numbers: CallNumbers) -> str:
        """Return the template; "" if it depends on unknown numbers."""
        if isinstance(self.text, str):
            return self.text
        try:
            return self.text(numbers)
        except (ArithmeticError, ValueError, IndexError):
            return ""


class Share(NamedTuple):
    """The gradient of an operand of a tensor op: a template with ``{g}`` for the gradient above.

    ``shapes`` is a template of shapes: ``{gs}``, ``{as}``, ``{bs}``, and with the last two
    dimensions swapped ``{gt}``, ``{at}``, ``{bt}``.
    """

    text: str
    shapes: str = ""


@dataclass(frozen=True)
class Rule:
    """Rule of ops. ``slopes`` and ``shares`` are per operand, and may be shorter."""

    names: str
    """The ops' names, separated by spaces."""
    formula: str
    words: str
    slopes: tuple[Slope, ...] = ()
    shares: tuple[Share, ...] = ()
    stretches: bool = False
    """True if operands are broadcast, so that their gradients are summed."""


def share_rule(names: str, formula: str, words: str, *shares: Share) -> Rule:
    """Return the rule of tensor ops, which have no slopes."""
    return Rule(names, formula, words, shares=shares)


def constant_slope(number: float) -> Slope:
    """Return a constant slope."""
    return Slope(f"{number:g}".replace("-", "−"), lambda _: number)


def numeric_slope(value: Callable[[CallNumbers], float]) -> Slope:
    """Return a slope whose text is its number (0, 1 or a setting), if that is known."""

    def text(numbers: CallNumbers) -> str:
        number = value(numbers) if not math.isnan(numbers.x) else math.nan
        return "" if math.isnan(number) else f"{number:g}".replace("-", "−")

    return Slope(text, value)


def sign(x: float) -> float:
    """Return −1, 0 or 1; NaN for NaN."""
    return math.copysign(1.0, x) if x and not math.isnan(x) else x


def rule_modules() -> tuple[str, ...]:
    """Return the modules that `rule_table` imports, so that they can be imported one at a time."""
    found = pkgutil.iter_modules(families.__path__)
    return tuple(f"{families.__name__}.{module.name}" for module in found)


@cache
def rule_table() -> dict[str, Rule]:
    """Return op name -> rule; every module in `ops` is included, and plug-ins for other ops."""
    found: dict[str, Rule] = {}
    for added in plugins.entries("explanations", "RULES", tuple).values():
        found.update(_by_op(rule for rule in added if isinstance(rule, Rule)))
    for name in rule_modules():
        found.update(_by_op(importlib.import_module(name).RULES))
    return found


def _by_op(rules: Iterable[Rule]) -> Iterator[tuple[str, Rule]]:
    return ((name, rule) for rule in rules for name in rule.names.split())
