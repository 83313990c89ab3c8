"""Catalogue of the zoo: find entries, validate options, list entries for the window."""

import functools
import importlib
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
    quoted,
)
from gradscribe.engine.protocol.slips.near_words import did_you_mean, nearest, plain
from gradscribe.engine.protocol.training import option_values
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

P = TypeVar("P", Data, Model, Loss, Optimizer, Schedule)


@functools.cache
def zoo_entries(kind: EntryKind) -> dict[str, ZooEntry]:
    """Return the entries of a kind by name, in the order in which to offer them.

    Their files stand in the kind's folder or in folders of it; plug-ins come last.
    """
    package = importlib.import_module(PACKAGES[kind])
    entries_by_name: dict[str, ZooEntry] = {
        module.name.rpartition(".")[2]: entry
        for module in pkgutil.walk_packages(package.__path__, f"{PACKAGES[kind]}.")
        if not module.ispkg
        # None stands for one that this release of torch lacks.
        and (entry := importlib.import_module(module.name).ENTRY) is not None
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
        if not hint:
            raise SetupError(f"no {kind} called {quoted(part.name)}; there are {names}", kind)
        missing, known = f"no {kind} called {quoted(part.name)}{hint}", f"There are {names}"
        raise SetupError(f"{missing} {known}", kind)
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
        values[name] = option_values.converted(options[name], value, place)
        if isinstance(piece, Optimizer):
            option_values.check_length(options[name], value, place)
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
    return option_values.converted(known[option], value, f"{kind}.{option}")


def _as_choice(word: str, available: dict[str, ZooEntry]) -> str:
    """Return a hint at the entry that has ``word`` as a choice of one of its options."""
    for name, piece in available.items():
        for option in piece.options:
            if word.lower() in option.choices:
                return f'; write {{"name": "{name}", "{option.name}": "{word.lower()}"}}.'
    return ""
