"""What a program from elsewhere has in place of Python's builtin functions.

Names that come out of strings at run time are looked at with the same eyes as those in the text.
Every check asks for the exact type of a name: a class made by the program could lie about itself.
"""

import _string  # type: ignore[import-not-found]
import builtins
import string
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from types import BuiltinFunctionType, FunctionType, ModuleType

import numpy as np
import torch

from engine.policy import modules, rewrite, twins, words
from engine.policy.refusal import Refusal

MAIN = "__main__"
_MISSING = object()
_GUARDED_OF = {"cast": memoryview, "set_state": np.random.RandomState}
"""Attributes that are refused of some things only: NumPy believes any state it is given."""


def get(owner: object, name: object, *default: object) -> object:
    """Return an attribute whose name is not certain to be harmless.

    Raises:
        Refusal: the policy keeps it from the program.
        AttributeError: there is none, and no ``default``.
    """
    if type(name) is not str:
        raise TypeError("attribute name must be string")
    _readable(owner, name)
    found = getattr(owner, name, *default)
    if isinstance(found, ModuleType) and not isinstance(found, modules.StandIn):
        raise Refusal(f".{name} is a module that is not for a program from outside")
    if name == "load_state_dict":
        return _plainly(found)
    if name in words.INDICES and isinstance(owner, torch.Tensor) and callable(found):
        return lambda: twins.apart(found())
    return found


def _readable(owner: object, name: str) -> None:
    if name in words.ATTRIBUTES and not (name in words.OWNED and _is_of_own(owner, name)):
        why, instead = words.ATTRIBUTES[name]
        raise Refusal(f".{name} is refused: {why}", instead)
    if name == "format" and isinstance(owner, str):
        raise Refusal("format() may only be called at once", "Use an f-string.")
    if isinstance(owner, _GUARDED_OF.get(name, ())):
        raise Refusal(f".{name} is refused: a program from outside may not reach into memory")
    if name in words.INDICES and isinstance(owner, type) and not is_own(owner):
        raise Refusal(f"{name}() is called on a tensor here", f"Write x.{name}().")
    if name.startswith("__") and name.endswith("__"):
        if name not in words.READABLE:
            raise Refusal(f"{name} is private to Python", "Use a public attribute.")
    elif name.startswith("_") and not _is_open(owner, name):
        raise Refusal(
            f"{name} is private to {_kind(owner).__name__}",
            "A program from outside may use private names of its own classes only.",
        )


def _is_open(owner: object, name: str) -> bool:
    """Whether a private attribute is the program's own, or tells nothing that must be kept."""
    if name in words.HARMLESS or name.startswith(words.SAVED):
        return True
    if isinstance(owner, FunctionType):
        return is_own(owner)
    return _is_of_own(owner, name)


def _is_of_own(owner: object, name: str) -> bool:
    """Whether an object is of a class of the program's own, and no other class has the name."""
    own = False
    for kind in type.__dict__["__mro__"].__get__(_kind(owner)):
        if is_own(kind):
            own = True
        elif name in vars(kind):
            return False
    return own


def _kind(owner: object) -> type:
    return owner if isinstance(owner, type) else type(owner)


def is_own(made: object) -> bool:
    """Whether a class or a function was made by the program."""
    if isinstance(made, type):
        return bool(type.__dict__["__module__"].__get__(made) == MAIN)
    return getattr(made, "__module__", "") == MAIN


def place(owner: object, name: str) -> object:
    """Return what an attribute may be written to.

    Raises:
        Refusal: it belongs to Python or to a library.
    """
    if isinstance(owner, ModuleType):
        raise Refusal("A module cannot be changed by a program from outside", "Make a function.")
    if isinstance(owner, type | FunctionType | BuiltinFunctionType) and not is_own(owner):
        raise Refusal(
            "Only classes of the program itself can be changed",
            "Make a class of your own that inherits from it.",
        )
    if name.startswith("__") and name.endswith("__"):
        raise Refusal(f"{name} is private to Python", "Use another name.")
    if name.startswith("_") and not _is_open(owner, name):
        raise Refusal(f"{name} is private to {_kind(owner).__name__}", "Use a name of your own.")
    if name in words.LAID and isinstance(owner, np.ndarray):
        raise Refusal(f".{name} of an array cannot be set", "Make another array with reshape.")
    return owner


def _named(name: object) -> str:
    if type(name) is not str:
        raise TypeError("attribute name must be string")
    return name


def put(owner: object, name: object, value: object) -> None:
    """Do what ``setattr`` does, where that is allowed."""
    setattr(place(owner, _named(name)), _named(name), value)


def drop(owner: object, name: object) -> None:
    """Do what ``delattr`` does, where that is allowed."""
    delattr(place(owner, _named(name)), _named(name))


def has(owner: object, name: object) -> bool:
    """Do what ``hasattr`` does, where that is allowed."""
    return get(owner, name, _MISSING) is not _MISSING


def hide(method: Callable[[object, str], object]) -> Callable[[object, str], object]:
    """Keep a class's ``__getattr__`` from answering for names that Python and NumPy ask for."""

    def answer(owner: object, name: str) -> object:
        if type(name) is not str or name.startswith("__"):
            raise AttributeError(name)
        return method(owner, name)

    return answer


def _plainly(load: object) -> Callable[..., object]:
    """Return ``load_state_dict`` that takes no attributes of Python's own."""

    def loaded(*args: object, **kwargs: object) -> object:
        for state in (*args, *kwargs.values()):
            if not isinstance(state, Mapping):
                continue
            plain = type(state) in (dict, OrderedDict)
            if not plain or any(type(k) is str and k.startswith("__") for k in state):
                raise Refusal("A state is a plain dict without private names", "Use state_dict().")
        if not callable(load):
            raise TypeError("load_state_dict is no method")
        return load(*args, **kwargs)

    return loaded


class _Formatter(string.Formatter):
    """``str.format`` that reaches no private attributes; good for one text."""

    _next = 0

    def get_field(
        self, field_name: str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> tuple[object, str]:
        first, rest = _string.formatter_field_name_split(field_name)
        if first == "":
            # Python's own class counts only the fields that are wholly empty.
            first, self._next = self._next, self._next + 1
        found = self.get_value(first, args, kwargs)
        for is_attribute, key in rest:
            found = get(found, key) if is_attribute else found[key]
        return found, first


def formatted(text: object, /, *args: object, **kwargs: object) -> object:
    """Do what ``text.format(...)`` does."""
    if isinstance(text, str):
        return _Formatter().vformat(str.__str__(text), args, kwargs)
    if not is_own(type(text)) and not (isinstance(text, type) and is_own(text)):
        raise Refusal("format() is for texts", "Use an f-string.")
    method: Callable[..., object] = getattr(text, "format")  # noqa: B009
    return method(*args, **kwargs)


class _Type(type):
    def __call__(cls, *values: object) -> type:
        if len(values) != 1:
            raise Refusal("type() takes one value here", "Write a class.")
        kind = type(values[0])
        if issubclass(kind, type):
            raise Refusal("The class of a class is private to Python", "Use isinstance().")
        return twins.Array if issubclass(kind, np.ndarray) else kind

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, type)


Type = _Type("type", (), {"__module__": "builtins"})
"""``type`` for one value, and as what `isinstance` takes."""


def leave(code: object = None) -> None:
    """End the program, as ``exit()`` and ``quit()`` do."""
    raise SystemExit(code)


_KEPT = (
    "abs all any ascii bin bool bytes callable chr classmethod complex dict dir divmod enumerate "
    "filter float format frozenset hash hex id int isinstance issubclass iter len list map max min "
    "next object oct ord pow print property range repr reversed round set slice sorted "
    "staticmethod str sum super tuple zip NotImplemented Ellipsis"
).split()
BUILTINS: dict[str, object] = {
    **{name: getattr(builtins, name) for name in _KEPT},
    **{
        name: kind
        for name, kind in vars(builtins).items()
        if isinstance(kind, type) and issubclass(kind, BaseException)
    },
    "type": Type,
    "getattr": get,
    "setattr": put,
    "delattr": drop,
    "hasattr": has,
    "exit": leave,
    "quit": leave,
    rewrite.MODULE: modules.found,
    rewrite.GIVE: modules.given,
    rewrite.GET: get,
    rewrite.PLACE: place,
    rewrite.FORMAT: formatted,
    rewrite.HIDE: hide,
}
"""What a program finds under the names of Python's builtin functions."""


def builtin_names() -> dict[str, object]:
    """Return what stands in ``__builtins__``.

    NumPy and torch import through the builtins of whoever calls them; so those that begin with two
    underscores are Python's own. No program can name them.
    """
    own = {name: thing for name, thing in vars(builtins).items() if name.startswith("__")}
    return {**own, **BUILTINS}
