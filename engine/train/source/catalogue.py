"""Catalogue of the zoo: find entries, validate options, list entries for the window."""

import functools
import importlib
import json
import pkgutil
from typing import TypeVar

import msgspec

from gradscribe.engine import plugins
from gradscribe.engine.doctor.examine import finding_kinds
from gradscribe.engine.protocol.setup import (
    MAX_QUOTED_CHARS,
    JsonValue,
    Part,
    Setup,
    SetupError,
    is_finite,
    quoted,
    written,
)
from gradscribe.engine.protocol.slips.near_words import did_you_mean, nearest, plain
from gradscribe.engine.protocol.training.catalogue import (
    CatalogueEntry,
    EntryKind,
    Option,
    hint_for_option,
)
from gradscribe.engine.zoo.entry import Data, Loss, Model, Optimizer, Schedule, ZooEntry

PACKAGES: dict[EntryKind, str] = {
    "data": "gradscribe.engine.zoo.data",
    "model": "gradscribe.engine.zoo.models",
    "loss": "gradscribe.engine.zoo.losses",
    "optimizer": "gradscribe.engine.zoo.optimizers",
    "schedule": "gradscribe.engine.zoo.schedules",
}
PLUGINS: dict[EntryKind, plugins.Group] = {
    "data": "data",
    "model": "models",
    "loss": "losses",
    "optimizer": "optimizers",
    "schedule": "schedules",
}
TYPES: dict[EntryKind, type[ZooEntry]] = {
    "data": Data,
    "model": Model,
    "loss": Loss,
    "optimizer": Optimizer,
    "schedule": Schedule,
}
_GROUPS = ("Playground", "Points", "Curves", "Tables", "Pictures", "Sequences", "Your own")
MOST_NUMBERS = 100_000

P = TypeVar("P", Data, Model, Loss, Optimizer, Schedule)


@functools.cache
def zoo_entries(kind: EntryKind) -> dict[str, ZooEntry]:
    """Return the entries of a kind by name, in the order in which to offer them.

    Their files stand in the kind's folder or in folders of it; plug-ins come last.
    """
    package = importlib.import_module(PACKAGES[kind])
    entries_by_name: dict[str, ZooEntry] = {
        module.name.rpartition(".")[2]: importlib.import_module(module.name).ENTRY
        for module in pkgutil.walk_packages(package.__path__, f"{PACKAGES[kind]}.")
        if not module.ispkg
    }
    known = plugins.added(PLUGINS[kind], entries_by_name, _plugin_entries(kind))
    return dict(sorted(known.items(), key=_order))


def _plugin_entries(kind: EntryKind) -> dict[str, ZooEntry]:
    """Return the entries of other packages that the window can show."""
    found: dict[str, ZooEntry] = {}
    for name, piece in plugins.entries(PLUGINS[kind], "ENTRY", TYPES[kind]).items():
        try:
            # As it travels to the window: a title that is a number would end the connection.
            encoded = msgspec.msgpack.encode(_entry(name, piece))
            msgspec.msgpack.decode(encoded, type=CatalogueEntry)
        except Exception as error:  # noqa: BLE001 - a plug-in may hold anything
            plugins.leave_out_name(PLUGINS[kind], name, f"its entry is not valid: {error}")
        else:
            found[name] = piece
    return found


def left_out_plugins() -> tuple[str, ...]:
    """Return a line for each plug-in of the engine that cannot be used."""
    for kind in PACKAGES:
        zoo_entries(kind)
    finding_kinds()
    return tuple(map(str, plugins.broken()))


def _order(named: tuple[str, ZooEntry]) -> tuple[int, bool, str]:
    name, piece = named
    group = _GROUPS.index(piece.group) if piece.group in _GROUPS else -1
    return group, not piece.first, name


def entries() -> tuple[CatalogueEntry, ...]:
    """Return all entries as plain data."""
    return tuple(
        _entry(name, piece) for kind in PACKAGES for name, piece in zoo_entries(kind).items()
    )


def _entry(name: str, piece: ZooEntry) -> CatalogueEntry:
    task = piece.task if isinstance(piece, Data) else "any"
    if isinstance(piece, Loss):
        task = piece.tasks[0] if len(piece.tasks) == 1 else "any"
    inputs, train = (piece.inputs, piece.train) if isinstance(piece, Data) else ("any", 0.8)
    takes = piece.takes if isinstance(piece, Model) else ()
    texts = piece.title, piece.help, piece.options
    return CatalogueEntry(piece.kind, name, *texts, task, inputs, piece.group, train, takes)


def find(kind: EntryKind, part: Part, expected: type[P]) -> tuple[P, dict[str, JsonValue]]:
    """Return the entry that a part names, and the values of all its options.

    Raises:
        SetupError: there is no such entry or option, or a value has the wrong type or size.
    """
    available = zoo_entries(kind)
    if part.name not in available:
        near = did_you_mean(part.name, available, _class_names(available))
        hint, names = near, ", ".join(sorted(available))
        hint = _as_choice(part.name, available) or hint
        message = f"no {kind} called {quoted(part.name)}{hint or ';'}"
        raise SetupError(f"{message} {'There' if hint else 'there'} are {names}", kind)
    piece = available[part.name]
    assert isinstance(piece, expected)
    options = {option.name: option for option in piece.options}
    values = {name: option.default for name, option in options.items()}
    for name, value in part.options.items():
        place = f"{kind}.{name}"
        if name not in options:
            message = f"{part.name} has no option {quoted(name)}"
            message += _option_hint(kind, name, value, options)
            raise SetupError(message, f"{kind}.{name[:MAX_QUOTED_CHARS]}")
        values[name] = _converted(options[name], value, place)
        if isinstance(piece, Optimizer):
            _check_length(options[name], value, place)
    return piece, values


def _class_names(available: dict[str, ZooEntry]) -> dict[str, str]:
    """Return the names of entries by those of the torch classes that they make."""
    made = {name: getattr(piece, "make", None) for name, piece in available.items()}
    return {plain(make.__name__): name for name, make in made.items() if isinstance(make, type)}


def _option_hint(kind: EntryKind, name: str, value: JsonValue, options: dict[str, Option]) -> str:
    """Return the place or the name that an unknown option is meant for, and all that there are."""
    if exact := hint_for_option(entries(), name, value, kind, exactly=True):
        return f": {exact}"
    has = f"it has {', '.join(options)}" if options else "it has none"
    alike = [other.name for other in entries() if other.kind == kind and _has(other, name)]
    if alike:
        return f", but {', '.join(alike)} {'has' if len(alike) == 1 else 'have'}; {has}"
    if nearest(name, (*options, *Setup.__struct_fields__)) in options:
        return f"{did_you_mean(name, options)} {has[:1].upper()}{has[1:]}"
    belongs = hint_for_option(entries(), name, value, kind)
    return f": {belongs}" if belongs else f"; {has}"


def _has(entry: CatalogueEntry, name: str) -> bool:
    return any(option.name == name for option in entry.options)


def checked(kind: EntryKind, name: str, option: str, value: JsonValue) -> JsonValue:
    """Return the value of an entry's option, converted. Raises `SetupError`, KeyError."""
    known = {each.name: each for each in zoo_entries(kind)[name].options}
    if option not in known:
        raise SetupError(f"{name} has no option {quoted(option)}", f"{kind}.{option}")
    return _converted(known[option], value, f"{kind}.{option}")


def _as_choice(word: str, available: dict[str, ZooEntry]) -> str:
    """Return a hint at the entry that has ``word`` as a choice of one of its options."""
    for name, piece in available.items():
        for option in piece.options:
            if word.lower() in option.choices:
                return f'; write {{"name": "{name}", "{option.name}": "{word.lower()}"}}.'
    return ""


def _check_length(option: Option, value: JsonValue, place: str) -> None:
    """Raise `SetupError` for a list of wrong length; an optimizer's lists are tuples (betas)."""
    usual = option.default
    if isinstance(usual, list) and isinstance(value, list) and len(value) != len(usual):
        raise SetupError(f"{place} needs {len(usual)} numbers, not {len(value)}", place)


def _converted(option: Option, value: JsonValue, place: str) -> JsonValue:
    """Return the value converted to its option's kind. Raises `SetupError`."""
    match option.kind:
        case "bool":
            if isinstance(value, bool):
                return value
        case "int":
            if isinstance(value, int) and not isinstance(value, bool):
                return _in_range(option, value, place)
        case "float":
            if isinstance(value, int | float) and not isinstance(value, bool):
                return _in_range(option, float(value), place)
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


def _in_range(option: Option, value: float, place: str) -> JsonValue:
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
