"""Values of options, converted to their kind; others are refused in a line with the kind."""

import json

from gradscribe.engine.protocol.setup import (
    MAX_QUOTED_CHARS,
    JsonValue,
    SetupError,
    is_finite,
    quoted,
    written,
)
from gradscribe.engine.protocol.slips.near_words import did_you_mean
from gradscribe.engine.protocol.training.catalogue import Option

MOST_NUMBERS = 100_000


def check_length(option: Option, value: JsonValue, place: str) -> None:
    """Raise `SetupError` for a list of wrong length; an optimizer's lists are tuples (betas)."""
    usual = option.default
    if isinstance(usual, list) and isinstance(value, list) and len(value) != len(usual):
        raise SetupError(f"{place} needs {len(usual)} numbers, not {len(value)}", place)


def converted(option: Option, value: JsonValue, place: str) -> JsonValue:
    """Return the value converted to its option's kind. Raises `SetupError`."""
    match option.kind:
        case "bool":
            if isinstance(value, bool):
                return value
        case "int":
            if isinstance(value, int) and not isinstance(value, bool):
                return in_range(option, value, place)
        case "float":
            if isinstance(value, int | float) and not isinstance(value, bool):
                return in_range(option, float(value), place)
        case "text":
            if isinstance(value, str) and len(value) <= 1 << 20:
                return value
        case "choice":
            named = value if isinstance(value, list) and option.each else [value]
            if all(item in option.choices for item in named) and named:
                return value
            wrong = next((str(item) for item in named if item not in option.choices), "")
            near = did_you_mean(wrong, option.choices)
            message = f"{place} is {value!r}, but must be one of {', '.join(option.choices)}{near}"
            raise SetupError(message, place)
        case "names":
            if isinstance(value, str) or (isinstance(value, list) and _is_list("choices", value)):
                return value
        case "columns":
            if isinstance(value, dict) and len(value) <= MOST_NUMBERS:
                return value
        case "points" if value == []:
            raise SetupError(f"{place} is empty: it needs one point at least", place)
        case "ints" | "floats" | "choices" | "points":
            if isinstance(value, list) and _is_list(option.kind, value):
                if option.kind == "points":
                    _check_width(option, value, place)
                return [float(str(item)) for item in value] if option.kind == "floats" else value
    is_text = option.kind in ("bool", "int", "float")
    how = written(value) if is_text else _as_list(option.kind, value)
    message = f"{place} is {str(value)[:60]!r}, which is not {_KIND_TEXTS[option.kind]}{how}"
    raise SetupError(message, place)


def _as_list(kind: str, value: JsonValue) -> str:
    """Return how a single item of a list is written; empty if it cannot be in such a list."""
    is_short = not isinstance(value, str) or len(value) <= MAX_QUOTED_CHARS
    fits = kind in ("ints", "floats", "choices") and value is not None and is_short
    return f"; write {json.dumps([value])}" if fits and _is_list(kind, [value]) else ""


_KIND_TEXTS = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "text": "a text",
    "choice": "a choice",
    "ints": "a list of whole numbers",
    "floats": "a list of numbers",
    "choices": "a list of names",
    "names": "a name, or a list of names",
    "columns": 'an object like {"date": "days"}',
    "points": "a list of rows of equally many numbers",
}


def in_range(option: Option, value: float, place: str) -> JsonValue:
    """Return a number that is within its option's bounds. Raises `SetupError`."""
    low, high = option.low, option.most
    if not is_finite(value):
        raise SetupError(f"{place} is {quoted(value)}, but must be finite", place)
    if low is not None and value < low:
        raise SetupError(
            f"{place} is {_number_text(value)}, but must be at least {_number_text(low)}", place
        )
    if high is not None and value > high:
        raise SetupError(
            f"{place} is {_number_text(value)}, but must be at most {_number_text(high)}", place
        )
    return value


def _number_text(number: float) -> str:
    """Format a bound or a value beyond it: 100000, 1e-05."""
    return str(int(number)) if number == int(number) and abs(number) < 1e15 else f"{number:g}"


def _check_width(option: Option, rows: list[object], place: str) -> None:
    """Raise `SetupError` if points have another number of coordinates than the default points."""
    first, usual = rows[0], option.default[0] if isinstance(option.default, list) else None
    if isinstance(first, list) and isinstance(usual, list) and len(first) != len(usual):
        named = option.help[:1].lower() + option.help[1:]
        raise SetupError(f"{place} has rows of {len(first)} numbers; they are {named}", place)


def _is_list(kind: str, value: list[object]) -> bool:
    if len(value) > MOST_NUMBERS:
        return False
    if kind == "choices":
        return all(isinstance(item, str) for item in value)
    if kind == "ints":
        return all(isinstance(item, int) and not isinstance(item, bool) for item in value)
    if kind == "floats":
        return all(_is_number(item) for item in value)
    rows = [row for row in value if isinstance(row, list) and all(map(_is_number, row))]
    widths = {len(row) for row in rows}
    return len(rows) == len(value) > 0 and len(widths) == 1 and widths.pop() >= 2


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and is_finite(value)
