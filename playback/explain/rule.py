"""What is known of an op: its formula, how gradients run back through it, its local derivatives."""

import importlib
import math
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from playback.explain import ops as families


class Numbers(NamedTuple):
    """One scalar call: operands as written (tensors and literals), result, number keywords."""

    inputs: tuple[float, ...]
    output: float
    options: dict[str, float]

    @property
    def x(self) -> float:
        """The first operand."""
        return self.inputs[0]

    def option(self, place: int, keyword: str, default: float) -> float:
        """Return a setting given by place or by keyword, else its default."""
        if len(self.inputs) > place:
            return self.inputs[place]
        return self.options.get(keyword, default)


class Slope(NamedTuple):
    """The derivative of an elementwise op by one operand.

    ``text`` is a template: ``{a}``, ``{b}``, ``{c}`` are the operands, ``{y}`` the result; it may
    depend on the numbers. ``value`` gives the number; it may raise ArithmeticError or ValueError.
    Numbers that are not known are NaN.
    """

    text: str | Callable[[Numbers], str]
    value: Callable[[Numbers], float]

    def written(self, numbers: Numbers) -> str:
        """Return the template; "" where it depends on numbers that are not there."""
        if isinstance(self.text, str):
            return self.text
        try:
            return self.text(numbers)
        except (ArithmeticError, ValueError, IndexError):
            return ""


class Share(NamedTuple):
    """What an operand of a tensor op is sent: a template with ``{g}`` for what arrived.

    ``shapes`` is a template over shapes: ``{gs}``, ``{as}``, ``{bs}``, and with the last two
    dimensions exchanged ``{gt}``, ``{at}``, ``{bt}``.
    """

    text: str
    shapes: str = ""


@dataclass(frozen=True)
class Rule:
    """One row of the table. ``slopes`` and ``shares`` go by operand; either may be shorter."""

    names: tuple[str, ...]
    formula: str
    words: str
    slopes: tuple[Slope, ...] = ()
    shares: tuple[Share, ...] = ()
    stretches: bool = False
    """True where operands of unlike shapes are broadcast, so that shares are summed back."""


def constant(number: float) -> Slope:
    """Return a slope that is the same everywhere."""
    return Slope(f"{number:g}".replace("-", "−"), lambda _: number)


def plain(value: Callable[[Numbers], float]) -> Slope:
    """Return a slope that is written as its number, where that is known: 0, 1 or a setting."""

    def text(numbers: Numbers) -> str:
        number = value(numbers) if not math.isnan(numbers.x) else math.nan
        return "" if math.isnan(number) else f"{number:g}".replace("-", "−")

    return Slope(text, value)


def sign(x: float) -> float:
    """Return −1, 0 or 1; NaN for NaN."""
    return math.copysign(1.0, x) if x and not math.isnan(x) else x


def files() -> tuple[str, ...]:
    """Return the modules that `table` imports: one after the other takes less long at a time."""
    found = pkgutil.iter_modules(families.__path__)
    return tuple(f"{families.__name__}.{module.name}" for module in found)


@cache
def table() -> dict[str, Rule]:
    """Return every rule by op name; a file put into `ops` is found by itself."""
    found: dict[str, Rule] = {}
    for name in files():
        rules: tuple[Rule, ...] = importlib.import_module(name).RULES
        found.update((name, rule) for rule in rules for name in rule.names)
    return found
