"""The modules that untrusted programs may import: stand-ins with only the harmless functions.

A stand-in cannot be changed and gives no access to other modules. Functions that call others by
name, start processes, evaluate strings or accept memory addresses are left out, or replaced by a
safe variant from `twins`.
"""

import importlib
from collections.abc import Iterable
from types import ModuleType

from gradscribe.engine.sandbox.policy import modules_allowed
from gradscribe.engine.sandbox.policy.refusal import TRUST, Refusal


class StandIn(ModuleType):
    """A read-only module with only what an untrusted program may use."""

    def __init__(self, name: str, contents: dict[str, object], hidden: Iterable[str]) -> None:
        super().__init__(name)
        self.__dict__.update(contents)
        self.__dict__["__hidden__"] = frozenset(hidden)

    def __getattr__(self, name: str) -> object:
        whole = f"{self.__name__}.{name}"
        if name in self.__dict__.get("__hidden__", ()):
            raise Refusal(f"{whole} is not available to a program from outside", TRUST)
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def __setattr__(self, name: str, value: object) -> None:
        raise Refusal("A module cannot be changed by a program from outside", "Make a function.")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __dir__(self) -> list[str]:
        named = {name for name in self.__dict__ if not name.startswith("__")}
        return sorted(named.union(self.__dict__.get("__all__", ())))


_stand_ins: dict[str, StandIn] = {}


def offered_names(name: str) -> frozenset[str] | None:
    """Return the names in the stand-in for ``name``; None if it may not be imported."""
    if name not in modules_allowed.MODULES:
        return None
    return frozenset(dir(get_stand_in(name)))


def get_stand_in(name: str) -> StandIn:
    """Return the stand-in for a module.

    Raises:
        Refusal: the module may not be imported.
    """
    if name not in modules_allowed.MODULES:
        raise Refusal(f"A program from outside may not import {name}")
    if name not in _stand_ins:
        _stand_ins[name] = _make(name)
    return _stand_ins[name]


def _make(name: str) -> StandIn:
    contents = dict(modules_allowed.MODULES[name]())
    for inner in modules_allowed.MODULES:
        above, _, last = inner.rpartition(".")
        if above == name:
            contents[last] = get_stand_in(inner)
    try:
        hidden: Iterable[str] = dir(importlib.import_module(name))
    except ImportError:
        hidden = ()
    return StandIn(name, contents, hidden)


def import_module(name: str, bound: str) -> StandIn:
    """Return the module that ``import name`` binds; ``bound`` is ``name`` or its first part."""
    get_stand_in(name)
    return get_stand_in(bound)


def import_from(module: str, name: str) -> object:
    """Return the object that ``from module import name`` binds.

    Raises:
        Refusal: the policy does not allow it.
        ImportError: the module has no such name.
    """
    inner = f"{module}.{name}"
    if inner in modules_allowed.MODULES:
        return get_stand_in(inner)
    try:
        return getattr(get_stand_in(module), name)
    except AttributeError:
        raise ImportError(f"cannot import name {name!r} from {module!r}") from None


def stand_in_for(value: object) -> object:
    """Return the stand-in for a module, other values unchanged."""
    if isinstance(value, ModuleType):
        return get_stand_in(value.__name__)
    return value
