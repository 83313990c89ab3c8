"""The options that a sweep varies, and their values: lists, ranges, random draws.

One is written ``NAME=VALUES``: ``optimizer.lr=log:1e-4:1:20``, ``seed=0..4``,
``model.activation=relu,tanh``, ``optimizer.lr=random:log:1e-4:1``.
"""

import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gradscribe.engine.protocol.setup import JsonValue, quoted
from gradscribe.playback.translation import tr

MAX_TRIALS = 10_000
"""Most trials of a sweep, and most values of one of its options."""
FORMS = "a,b,c · 0..9 · linear:0:1:5 · log:1e-4:1:20 · random:0:1 · random:log:1e-4:1"


class SweepError(ValueError):
    """A sweep that cannot be run; the message is one line, ``name`` the option at fault."""

    def __init__(self, message: str, name: str = "") -> None:
        super().__init__(message)
        self.name = name


@dataclass(frozen=True)
class ListedAxis:
    """An option and all values that it takes."""

    name: str
    values: tuple[JsonValue, ...]
    is_range: bool = False
    """True for values between two bounds, which are rounded where the option takes integers."""


@dataclass(frozen=True)
class RandomAxis:
    """An option and the distribution from which each draw takes its value."""

    name: str
    kind: Literal["uniform", "log", "whole", "choice"]
    low: float = 0.0
    high: float = 0.0
    choices: tuple[JsonValue, ...] = ()

    def draw(self, source: random.Random) -> JsonValue:
        """Return the next value."""
        match self.kind:
            case "choice":
                return source.choice(self.choices)
            case "whole":
                return source.randint(int(self.low), int(self.high))
            case "log":
                power = source.uniform(math.log(self.low), math.log(self.high))
                # Rounding must not leave the range.
                return min(max(math.exp(power), self.low), self.high)
        return source.uniform(self.low, self.high)

    @property
    def examples(self) -> tuple[JsonValue, ...]:
        """The values to check: all choices, or both bounds."""
        if self.kind == "choice":
            return self.choices
        if self.kind == "whole":
            return (int(self.low), int(self.high))
        return (self.low, self.high)


AnyAxis = ListedAxis | RandomAxis


def parse_axis(text: str) -> AnyAxis:
    """Return the option and the values that ``NAME=VALUES`` describes.

    Raises:
        SweepError: there is no ``=``, no value, a bound is no number, or there are too many values.
    """
    name, equals, words = (part.strip() for part in text.partition("="))
    if not equals or not name:
        raise SweepError(
            tr("{quoted} is no NAME=VALUES, as in optimizer.lr=log:1e-4:1:20", quoted=quoted(text))
        )
    return axis(name, words)


def axis(name: str, words: str) -> AnyAxis:
    """Return the option ``name`` with the values that ``words`` describe. Raises `SweepError`."""
    if not words.strip():
        raise SweepError(tr("{name} has no values: write {forms}", name=name, forms=FORMS), name)
    kind, colon, rest = words.strip().partition(":")
    if colon and kind == "random":
        return _random(name, rest)
    if colon and kind in ("linear", "lin", "log"):
        return ListedAxis(name, _spaced(name, rest, is_log=kind == "log"), is_range=True)
    if ".." in words and not words.lstrip().startswith(("[", "{", '"')):
        return ListedAxis(name, tuple(_whole(name, words)), is_range=True)
    return ListedAxis(name, _listed(name, words))


def _random(name: str, words: str) -> RandomAxis:
    kind, colon, rest = words.partition(":")
    if colon and kind == "log":
        low, high = _bounds(name, rest.split(":"), is_log=True)
        return RandomAxis(name, "log", low, high)
    if colon:
        bounds = rest if kind in ("linear", "lin", "uniform") else words
        return RandomAxis(name, "uniform", *_bounds(name, bounds.split(":")))
    if ".." in words:
        whole = _whole(name, words, most=2**63)
        return RandomAxis(name, "whole", whole[0], whole[-1])
    return RandomAxis(name, "choice", choices=_listed(name, words))


def _bounds(name: str, words: Sequence[str], is_log: bool = False) -> tuple[float, float]:
    if len(words) != 2:
        form = "log:LOW:HIGH" if is_log else "LOW:HIGH"
        raise SweepError(
            tr("{name}: a random number is drawn from {form}", name=name, form=form), name
        )
    low, high = (_number(name, word) for word in words)
    if low >= high:
        raise SweepError(
            tr("{name}: {low:g} is not below {high:g}", name=name, low=low, high=high), name
        )
    if is_log and low <= 0:
        raise SweepError(
            tr("{name}: a logarithmic range begins above 0, not at {low:g}", name=name, low=low),
            name,
        )
    return low, high


def _spaced(name: str, words: str, is_log: bool) -> tuple[float, ...]:
    parts = words.split(":")
    kind = "log" if is_log else "linear"
    if len(parts) != 3:
        raise SweepError(tr("{name}: a range is {kind}:LOW:HIGH:COUNT", name=name, kind=kind), name)
    low, high = _bounds(name, parts[:2], is_log)
    count = _count(name, parts[2])
    if count == 1:
        return (low,)
    shares = [at / (count - 1) for at in range(1, count - 1)]
    if is_log:
        between = [low * (high / low) ** share for share in shares]
    else:
        between = [low + (high - low) * share for share in shares]
    # The bounds themselves, unrounded.
    return (low, *between, high)


def _count(name: str, word: str) -> int:
    number = _number(name, word)
    if number != int(number) or number < 1:
        raise SweepError(tr("{name}: {word} is no number of values", name=name, word=word), name)
    if number > MAX_TRIALS:
        raise SweepError(
            tr(
                "{name} has {int:,} values, but at most {max_trials:,} run",
                name=name,
                int=int(number),
                max_trials=MAX_TRIALS,
            ),
            name,
        )
    return int(number)


def _whole(name: str, words: str, most: int = MAX_TRIALS) -> range:
    ends, _, step = words.partition(":")
    numbers = [_number(name, word) for word in (*ends.split("..", 1), step or "1")]
    if any(number != int(number) for number in numbers) or numbers[2] < 1:
        raise SweepError(
            tr(
                "{name}: {quoted} is no range of integers, as 0..9 or 0..90:10",
                name=name,
                quoted=quoted(words),
            ),
            name,
        )
    low, high, every = map(int, numbers)
    if low > high:
        raise SweepError(
            tr("{name}: {low} is not below {high}", name=name, low=low, high=high), name
        )
    found = (high - low) // every + 1
    if found > most:
        raise SweepError(
            tr(
                "{name} has {found:,} values, but at most {most:,} run",
                name=name,
                found=found,
                most=most,
            ),
            name,
        )
    return range(low, high + 1, every)


def _number(name: str, word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        raise SweepError(
            tr("{name}: {quoted} is not a number", name=name, quoted=quoted(word.strip())), name
        ) from None
    if not math.isfinite(number):
        raise SweepError(
            tr("{name}: {quoted} is not finite", name=name, quoted=quoted(word.strip())), name
        )
    return number


def _listed(name: str, words: str) -> tuple[JsonValue, ...]:
    """Return the values between commas: JSON, and texts without quotes; doubles only once."""
    values = [_value(word) for word in split_list(words)]
    if any(value == "" for value in values):
        raise SweepError(
            tr("{name}: {quoted} has an empty value", name=name, quoted=quoted(words)), name
        )
    if len(values) > MAX_TRIALS:
        raise SweepError(
            tr(
                "{name} has {values_count:,} values, but at most {max_trials:,} run",
                name=name,
                values_count=len(values),
                max_trials=MAX_TRIALS,
            ),
            name,
        )
    return tuple({json.dumps(value, sort_keys=True): value for value in values}.values())


def split_list(words: str) -> list[str]:
    """Return the parts between the commas that stand outside of brackets and quotes."""
    parts, depth, is_text = [""], 0, False
    for letter in words:
        is_text = is_text != (letter == '"')
        depth += 0 if is_text else (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0 and not is_text:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _value(word: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(word, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return word
    return value


def _refuse(constant: str) -> None:
    """Leave NaN and Infinity, which JSON does not have, as texts: no option takes one."""
    raise ValueError(constant)
