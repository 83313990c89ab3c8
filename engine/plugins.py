"""Plug-ins: entries that other installed packages declare as entry points.

A package declares ``gradscribe.models`` (or another `Group`) with a name and a module, which has
the same ``ENTRY`` as a file of that kind in the source tree. A plug-in that cannot be used is left
out and noted in `broken`; nothing else fails for it.
"""

from collections.abc import Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Literal, TypeVar

from msgspec import Struct

Group = Literal[
    "data",
    "models",
    "losses",
    "optimizers",
    "schedules",
    "findings",
    "explanations",
    "panes",
    "lessons",
]
PREFIX = "gradscribe."
"""Prefix of the groups' names in a package's entry points."""
LONGEST = 300
"""Most characters of a reason."""

T = TypeVar("T")


class BrokenPlugin(Struct, frozen=True):
    """A plug-in that is left out."""

    group: str
    name: str
    package: str
    reason: str

    def __str__(self) -> str:
        """Return a line for the user."""
        package = f" of {self.package}" if self.package else ""
        return f"The plug-in {self.name}{package} ({self.group}) is left out: {self.reason}"


_broken: dict[tuple[str, str, str], BrokenPlugin] = {}


def broken() -> tuple[BrokenPlugin, ...]:
    """Return the plug-ins that were left out in this process so far."""
    return tuple(_broken.values())


def entries(group: Group, attribute: str, expected: type[T]) -> dict[str, T]:
    """Return the entries of a group's plug-ins by name.

    Args:
        group: kind of the plug-ins.
        attribute: name of the entry in a plug-in's module, which the entry point may name itself;
            empty if the module is the entry.
        expected: type of the entries; others are left out.
    """
    found: dict[str, T] = {}
    for point in points(group):
        try:
            loaded = point.load()
            is_entry = not attribute or ":" in point.value
            entry = loaded if is_entry else getattr(loaded, attribute)
        except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
            leave_out(group, point, f"{type(error).__name__}: {error}")
            continue
        if not isinstance(entry, expected):
            what = f"its {attribute} is a {type(entry).__name__}, not a {expected.__name__}"
            leave_out(group, point, what)
        elif point.name in found:
            leave_out(group, point, "another plug-in has this name")
        else:
            found[point.name] = entry
    return found


def added(group: Group, own: dict[str, T], others: dict[str, T]) -> dict[str, T]:
    """Return own entries and those of plug-ins; of a name that both have, the own entry."""
    for name in own.keys() & others.keys():
        leave_out_name(group, name, "Gradscribe has an entry of this name")
    return others | own


@cache
def points(group: Group) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group, by name."""
    found: Iterator[EntryPoint] = iter(entry_points(group=PREFIX + group))
    return tuple(sorted(found, key=lambda point: (point.name, point.value)))


def leave_out_name(group: Group, name: str, reason: str) -> None:
    """Note that the plug-ins of a name cannot be used, and why."""
    for point in points(group):
        if point.name == name:
            leave_out(group, point, reason)


def leave_out(group: Group, point: EntryPoint, reason: str) -> None:
    """Note that a plug-in cannot be used, and why."""
    package = point.dist.name if point.dist is not None else ""
    words = " ".join(reason.split())[:LONGEST]
    key = group, point.name, package
    _broken.setdefault(key, BrokenPlugin(PREFIX + group, point.name, package, words))
