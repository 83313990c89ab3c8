"""The modules that a program from elsewhere may import: stand-ins that hold what is harmless.

A stand-in cannot be changed and leads to no other module. What calls other functions by name,
starts processes, evaluates strings or takes memory addresses is not in it, or has a narrower twin
in `twins`.
"""

import importlib
from collections.abc import Iterable
from types import ModuleType

from engine.policy import offered
from engine.policy.refusal import TRUST, Refusal


class StandIn(ModuleType):
    """Looks like a module and holds only what a program from elsewhere may use."""

    def __init__(self, name: str, held: dict[str, object], hidden: Iterable[str]) -> None:
        super().__init__(name)
        self.__dict__.update(held)
        self.__dict__["__hidden__"] = frozenset(hidden)

    def __getattr__(self, name: str) -> object:
        whole = f"{self.__name__}.{name}"
        if name in self.__dict__.get("__hidden__", ()):
            raise Refusal(f"{whole} is not for a program from outside", TRUST)
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def __setattr__(self, name: str, value: object) -> None:
        raise Refusal("A module cannot be changed by a program from outside", "Make a function.")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __dir__(self) -> list[str]:
        return sorted(name for name in self.__dict__ if not name.startswith("__"))


_made: dict[str, StandIn] = {}


def offers(name: str) -> frozenset[str] | None:
    """Return the names that the module ``name`` offers; None: it may not be imported."""
    if name not in offered.MODULES:
        return None
    return frozenset(dir(stand_in(name)))


def stand_in(name: str) -> StandIn:
    """Return the stand-in for a module that is offered.

    Raises:
        Refusal: it is not.
    """
    if name not in offered.MODULES:
        raise Refusal(f"A program from outside may not import {name}")
    if name not in _made:
        _made[name] = _make(name)
    return _made[name]


def _make(name: str) -> StandIn:
    held = dict(offered.MODULES[name]())
    for inner in offered.MODULES:
        above, _, last = inner.rpartition(".")
        if above == name:
            held[last] = stand_in(inner)
    try:
        hidden: Iterable[str] = dir(importlib.import_module(name))
    except ImportError:
        hidden = ()
    return StandIn(name, held, hidden)


def found(name: str, bound: str) -> StandIn:
    """Return what ``import name`` binds: the stand-in for ``bound``, ``name`` or its first part."""
    stand_in(name)
    return stand_in(bound)


def given(module: str, name: str) -> object:
    """Return what ``from module import name`` binds.

    Raises:
        Refusal: it is not offered.
        ImportError: there is no such thing.
    """
    inner = f"{module}.{name}"
    if inner in offered.MODULES:
        return stand_in(inner)
    try:
        return getattr(stand_in(module), name)
    except AttributeError:
        raise ImportError(f"cannot import name {name!r} from {module!r}") from None


def shown(value: object) -> object:
    """Return what stands for ``value`` among the names that a program starts with."""
    if isinstance(value, ModuleType):
        return stand_in(value.__name__)
    return value
