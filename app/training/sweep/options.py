"""Check the options of a sweep against the catalogue before any trial runs."""

from collections.abc import Iterable, Mapping, Sequence

from gradscribe.app.training.sweep.axes import AnyAxis, ListedAxis, SweepError
from gradscribe.engine.protocol import setup as setups
from gradscribe.engine.protocol.setup import JsonValue, Part, Setup, SetupError, quoted
from gradscribe.engine.protocol.slips.near_words import did_you_mean
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.training import option_values
from gradscribe.engine.protocol.training.catalogue import CatalogueEntry, Option
from gradscribe.playback.translation import tr, translated

PARTS = ("data", "model", "loss", "optimizer", "schedule")
Entries = Mapping[tuple[str, str], CatalogueEntry]


def by_name(entries: Iterable[CatalogueEntry]) -> dict[tuple[str, str], CatalogueEntry]:
    """Return the entries of a catalogue by kind and name."""
    return {(entry.kind, entry.name): entry for entry in entries}


def check(base: Setup, axes: Sequence[AnyAxis], entries: Entries) -> tuple[AnyAxis, ...]:
    """Return the axes of a sweep of ``base``, ranges rounded where an option takes integers.

    Raises:
        SweepError: an option does not exist, is given twice, or does not take one of its values.
    """
    seen: set[str] = set()
    for each in axes:
        if each.name in seen:
            raise SweepError(tr("{name} is given twice", name=each.name), each.name)
        seen.add(each.name)
    checked: list[AnyAxis] = []
    for each in axes:
        try:
            checked.append(_check(base, each, axes, entries))
        except SetupError as error:
            words = str(error)
            head = "" if words.startswith(each.name) else f"{each.name}: "
            raise SweepError(f"{head}{translated(words)}", each.name) from None
    return tuple(checked)


def _check(base: Setup, each: AnyAxis, axes: Sequence[AnyAxis], entries: Entries) -> AnyAxis:
    kind, dot, option = each.name.partition(".")
    if not dot:
        if kind not in Setup.__struct_fields__:
            raise SweepError(_unknown_key(base, kind, entries), kind)
        return _checked_key(each, entries)
    if kind not in PARTS:
        near = did_you_mean(kind, PARTS)
        raise SweepError(
            tr(
                "{quoted} is no option{value}",
                quoted=quoted(each.name),
                value=near or tr("; it is PART.NAME"),
            ),
            each.name,
        )
    found = [
        _option(entries, kind, name, option) for name in _part_names(base, kind, axes, each.name)
    ]
    if (
        isinstance(each, ListedAxis)
        and each.is_range
        and all(known.kind == "int" for known in found)
    ):
        each = _rounded(each)
    for value in values(each):
        for known in found:
            option_values.converted(known, value, each.name)
    return each


def values(each: AnyAxis) -> tuple[JsonValue, ...]:
    """Return the values of an axis, of a distribution those at its bounds."""
    return each.values if isinstance(each, ListedAxis) else each.examples


def _rounded(each: ListedAxis) -> ListedAxis:
    whole = dict.fromkeys(round(float(str(value))) for value in each.values)
    return ListedAxis(each.name, tuple(whole), is_range=True)


def _checked_key(each: AnyAxis, entries: Entries) -> AnyAxis:
    field = type(getattr(Setup(), each.name))
    if (
        isinstance(each, ListedAxis)
        and each.is_range
        and (field is int or each.name.endswith("seed"))
    ):
        each = _rounded(each)
    for value in values(each):
        given = setups.parse({each.name: value})
        setups.validate(given)
        part = getattr(given, each.name)
        if each.name in PARTS and part is not None:
            _check_part(entries, each.name, part)
    return each


def _check_part(entries: Entries, kind: str, part: Part) -> None:
    _entry(entries, kind, part.name)
    for name, value in part.options.items():
        option_values.converted(_option(entries, kind, part.name, name), value, f"{kind}.{name}")


def _entry(entries: Entries, kind: str, name: str) -> CatalogueEntry:
    if (kind, name) not in entries:
        names = sorted(entry for group, entry in entries if group == kind)
        near = did_you_mean(name, names)
        raise SetupError(
            tr(
                "no {kind} called {quoted}{value}",
                kind=kind,
                quoted=quoted(name),
                value=near or tr("; there are ") + ", ".join(names),
            )
        )
    return entries[kind, name]


def _option(entries: Entries, kind: str, part: str, name: str) -> Option:
    known = {option.name: option for option in _entry(entries, kind, part).options}
    if name not in known:
        near = did_you_mean(name, known) or tr("; it has {value}", value=", ".join(known) or "none")
        raise SetupError(
            tr(
                "{kind} {part} has no option {quoted}{near}",
                kind=kind,
                part=part,
                quoted=quoted(name),
                near=near,
            )
        )
    return known[name]


def _part_names(base: Setup, kind: str, axes: Sequence[AnyAxis], wanted: str) -> list[str]:
    """Return the names of the parts that trials have: that of the setup, or those in the sweep."""
    parts = [getattr(base, kind)]
    for each in axes:
        if each.name == kind:
            parts = [getattr(setups.parse({kind: value}), kind) for value in values(each)]
    if any(part is None for part in parts):
        raise SetupError(
            tr(
                "the setup names no {kind}, so {wanted} has nothing to belong to",
                kind=kind,
                wanted=wanted,
            )
        )
    return [part.name for part in parts]


def _unknown_key(base: Setup, word: str, entries: Entries) -> str:
    """Return the message for a name that is no key of a setup, with the one that is meant."""
    options: dict[str, str] = {}
    for kind in PARTS:
        part = getattr(base, kind)
        if part is not None and (kind, part.name) in entries:
            options |= {
                f"{kind}.{each.name}": each.name for each in entries[kind, part.name].options
            }
    exact = [name for name, option in options.items() if option == word]
    if exact:
        return tr(
            "no key {quoted} in a setup; write {join}", quoted=quoted(word), join=" or ".join(exact)
        )
    near = did_you_mean(word, (*Setup.__struct_fields__, *dict.fromkeys(options.values())))
    for name, option in options.items():
        if near.startswith(f"; did you mean {option!r}"):
            near = tr("; did you mean {name!r}?", name=name)
    return tr("no key {quoted} in a setup{near}", quoted=quoted(word), near=near)


def with_absolute_path(base: Setup, folder: str) -> Setup:
    """Return the setup with the path of its data's file made absolute: trials run anywhere."""
    import os

    path = base.data.options.get("path")
    if not isinstance(path, str) or not path:
        return base
    options = {**base.data.options, "path": os.path.join(folder, path)}
    return replace(base, data=Part(base.data.name, options))
