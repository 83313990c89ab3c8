"""Guarded versions of Python's builtin functions for untrusted programs.

Attribute names in strings are checked at run time by the same rules as those in the text. Every
check requires the exact type `str` of a name: a subclass in the program could lie about itself.
"""

import _string  # type: ignore[import-not-found]
import abc
import builtins
import string
import types
from collections.abc import Callable, Mapping, Sequence
from types import (
    BuiltinFunctionType,
    FunctionType,
    MappingProxyType,
    MethodDescriptorType,
    ModuleType,
)

import numpy as np
import torch
from torch import nn
from torch.autograd.graph import Node
from torch.distributions.constraints import Constraint

from gradscribe.engine.sandbox.policy import (
    allowlist,
    blocked,
    modules,
    ownership,
    plot_modules,
    rewrite,
    safe_variants,
    state_dicts,
)
from gradscribe.engine.sandbox.policy.ownership import class_of, is_own, is_own_attribute
from gradscribe.engine.sandbox.policy.refusal import Refusal

_MISSING = object()
_IN_COPIES = (
    allowlist.INDICES | allowlist.MODULE_TABLES | {"load_state_dict", "arg_constraints", "new"}
)
"""Attributes of which a program sees only a copy or a wrapper."""
BECOMES_ATTRIBUTE = "cls_to_become"
"""The class that torch assigns to a lazy module; any class with a compatible layout."""
_MEMORY = "a program from outside may not reach into memory"
_GUARDED_OF: dict[str, tuple[type, str]] = {
    "cast": (memoryview, _MEMORY),
    "set_state": (np.random.RandomState, _MEMORY),
    "fields": (np.dtype, _MEMORY),
    "data": (np.generic, _MEMORY),
    "metadata": (Node, "what is noted there is the recorder's own"),
    "register": (abc.ABCMeta, "it would make strange things pass for a class of the program"),
}
"""Attributes that are refused on some types only. NumPy does not validate states, and exposes the
dict that defines the layout of a dtype, and the memory of a scalar."""


def guarded_getattr(owner: object, name: object, *default: object) -> object:
    """Return an attribute, after checking a name that might be harmful.

    Raises:
        Refusal: the policy does not allow it.
        AttributeError: there is none, and no ``default``.
    """
    if type(name) is not str:
        raise TypeError("attribute name must be string")
    _readable(owner, name)
    if (inner := ownership.unwrap(owner)) is not owner:
        _readable(inner, name)
    found, owner = getattr(owner, name, *default), inner
    if isinstance(found, ModuleType) and not isinstance(found, modules.StandIn):
        raise Refusal(f".{name} is a module that is not available to a program from outside")
    if name == "load_state_dict" and not is_own_attribute(owner, name):
        return state_dicts.plain_load_state_dict(owner, found)
    if name in allowlist.MODULE_TABLES and isinstance(owner, nn.Module):
        return MappingProxyType(dict(found)) if isinstance(found, dict) else found
    if name == "arg_constraints" and isinstance(found, dict):
        return MappingProxyType(dict(found))
    if name == "new" and isinstance(found, BuiltinFunctionType | MethodDescriptorType):
        return blocked.refuse_address(found)
    if name in allowlist.INDICES and isinstance(owner, torch.Tensor) and callable(found):
        return lambda: safe_variants.unrecorded_copy(found())
    return found


def _readable(owner: object, name: str) -> None:
    if name in allowlist.ATTRIBUTES and not (
        name in allowlist.AMBIGUOUS
        and (is_own_attribute(owner, name) or type(owner) is plot_modules.Film)
    ):
        why, instead = allowlist.ATTRIBUTES[name]
        raise Refusal(f".{name} is refused: {why}", instead)
    if name == "format" and (isinstance(owner, str) or ownership.inherits_from(owner, str)):
        raise Refusal("format() must be called directly", "Use an f-string.")
    if name in _GUARDED_OF:
        of, why = _GUARDED_OF[name]
        known = isinstance(owner, of) or ownership.inherits_from(owner, of)
        if known and not ownership.is_own_definition(owner, name):
            raise Refusal(f".{name} is refused: {why}")
    if (
        name == "state_dict"
        and ownership.is_unbound(owner)
        and not ownership.is_own_definition(owner, name)
    ):
        raise Refusal("state_dict() is called on an object", "Write model.state_dict().")
    if name in allowlist.INDICES and type(owner) is super:
        raise Refusal(f"{name}() is called on a tensor here", f"Write x.{name}().")
    if name in allowlist.INDICES and isinstance(owner, type) and not is_own_attribute(owner, name):
        raise Refusal(f"{name}() is called on a tensor here", f"Write x.{name}().")
    if name.startswith("__") and name.endswith("__"):
        if name not in allowlist.READABLE:
            raise Refusal(f"{name} is private to Python", "Use a public attribute.")
    elif name.startswith("_") and not ownership.is_accessible(owner, name):
        if name in allowlist.MODULE_TABLES and isinstance(owner, nn.Module):
            return
        raise Refusal(
            f"{name} is private to {class_of(owner).__name__}",
            "A program from outside may use private names of its own classes only.",
        )


def check_write(owner: object, name: str) -> object:
    """Return ``owner`` if the program may write its attribute ``name``.

    Raises:
        Refusal: it belongs to Python or to a library.
    """
    if (inner := ownership.unwrap(owner)) is not owner:
        check_write(inner, name)
    if isinstance(owner, ModuleType):
        raise Refusal("A module cannot be changed by a program from outside", "Make a function.")
    # An alias such as `Dataset[int]` forwards writes to the class.
    strange = type | FunctionType | BuiltinFunctionType | ownership.ALIAS
    if isinstance(owner, strange) and not is_own(owner):
        raise Refusal(
            "Only classes of the program itself can be changed",
            "Make a class of your own that inherits from it.",
        )
    if name.startswith("__") and name.endswith("__"):
        raise Refusal(f"{name} is private to Python", "Use another name.")
    if name.startswith("_"):
        of = (owner, *ownership.all_subclasses(owner)) if isinstance(owner, type) else (owner,)
        if not all(ownership.is_accessible(item, name) for item in of):
            raise Refusal(
                f"{name} is private to {class_of(owner).__name__}", "Use a name of your own."
            )
    if isinstance(owner, Constraint):
        raise Refusal("A constraint of torch's cannot be changed", "Make a class of your own.")
    if name == BECOMES_ATTRIBUTE:
        raise Refusal(f"{name} is given in the class itself", "Write it into the class.")
    if name in allowlist.LAYOUT_ATTRIBUTES and isinstance(owner, np.ndarray):
        raise Refusal(f".{name} of an array cannot be set", "Make another array with reshape.")
    return owner


def check_augmented_write(owner: object, name: str) -> object:
    """Return ``owner`` if its attribute may be read and written, as in ``x.name += 1``.

    Raises:
        Refusal: it may not, or the program would read only a copy of the attribute.
    """
    guarded_getattr(owner, name)
    if name in _IN_COPIES and not is_own_attribute(owner, name):
        raise Refusal(f".{name} cannot be changed so", f"Write x.{name} = x.{name} + ...")
    return check_write(owner, name)


def _named(name: object) -> str:
    if type(name) is not str:
        raise TypeError("attribute name must be string")
    return name


def guarded_setattr(owner: object, name: object, value: object) -> None:
    """Do what ``setattr`` does, if the policy allows it."""
    setattr(check_write(owner, _named(name)), _named(name), value)


def guarded_delattr(owner: object, name: object) -> None:
    """Do what ``delattr`` does, if the policy allows it."""
    delattr(check_write(owner, _named(name)), _named(name))


def guarded_hasattr(owner: object, name: object) -> bool:
    """Do what ``hasattr`` does, if the policy allows it."""
    return guarded_getattr(owner, name, _MISSING) is not _MISSING


def hide_dunders(method: Callable[[object, str], object]) -> Callable[[object, str], object]:
    """Wrap a class's ``__getattr__`` so that it does not supply special names."""

    def answer(owner: object, name: str) -> object:
        if type(name) is not str or name.startswith("__"):
            raise AttributeError(name)
        return method(owner, name)

    return answer


def guarded_super(kind: type, thing: object) -> object:
    """Do what ``super(kind, thing)`` does, for own classes: else it could skip a safe variant."""
    if not is_own(kind):
        raise Refusal("super() takes a class of the program itself", "Write super().")
    return super(kind, thing)


def guarded_init(owner: object, *args: object, **words: object) -> object:
    """Do what ``owner.__init__(...)`` does, but only for objects of the program's own classes."""
    target = args[0] if isinstance(owner, type) and args else owner
    if not is_own(type(target)):
        raise Refusal("__init__() is for objects of your own classes", "Make a new object.")
    return owner.__init__(*args, **words)  # type: ignore[misc]


def guarded_build_class(body: object, name: str, *bases: object, **options: object) -> object:
    """Do what a ``class`` statement does, after checking the namespace.

    The check comes first because creating a class already calls its own methods.
    """

    def make(
        called: str, above: tuple[type, ...], names: dict[str, object], **more: object
    ) -> object:
        kind = types.prepare_class(called, above)[0]
        theirs = ownership.all_bases(above)
        _check_class(kind, theirs, names)
        blocked.block_address_protocols(theirs, names)
        return kind(called, above, names, **more)

    words = {**options, "metaclass": make}
    return builtins.__build_class__(body, name, *bases, **words)  # type: ignore[arg-type]


def _check_class(kind: type, above: tuple[type, ...], names: dict[str, object]) -> None:
    """Refuse a class that would subvert a library's methods or the guards.

    torch reads any attribute of a distribution that the class lists as a parameter.
    """
    if any(issubclass(item, ownership.FORWARDING_TYPES) for item in above):
        raise Refusal("A class from outside cannot pass for another", "Make a class of its own.")
    if any(item.__qualname__ == "Distribution" and not is_own(item) for item in above):
        raise Refusal(
            "A class from outside cannot be a distribution",
            "Keep the distribution in an attribute.",
        )
    noted, slots = names.get("__annotations__", ()), names.get("__slots__", ())
    given = {*names, *(noted if isinstance(noted, dict) else ())}
    given |= {slots} if isinstance(slots, str) else {*map(str, slots)}  # type: ignore[call-overload]
    if (known := ownership.overridden_private_name(given, above)) is not None:
        raise Refusal(f"{known} is private to a class of torch", "Use a name of your own.")
    if (known := ownership.unsafe_match_arg(kind, above)) is not None:
        raise Refusal(f"A pattern may not look at {known}", "Use another name.")
    becomes = names.get(BECOMES_ATTRIBUTE)
    if becomes is not None and not (isinstance(becomes, type) and issubclass(becomes, nn.Module)):
        raise Refusal("A lazy module becomes a module", f"Leave {BECOMES_ATTRIBUTE} out.")


class _Formatter(string.Formatter):
    """``str.format`` without access to private attributes; to be used once."""

    _next = 0

    def get_field(
        self, field_name: str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> tuple[object, str]:
        first, rest = _string.formatter_field_name_split(field_name)
        if first == "":
            # string.Formatter numbers only fields that are entirely empty.
            first, self._next = self._next, self._next + 1
        found = self.get_value(first, args, kwargs)
        for is_attribute, key in rest:
            found = guarded_getattr(found, key) if is_attribute else found[key]
        return found, first


def guarded_format(text: object, /, *args: object, **kwargs: object) -> object:
    """Do what ``text.format(...)`` does."""
    if isinstance(text, str):
        return _Formatter().vformat(str.__str__(text), args, kwargs)
    is_class = isinstance(text, type) and is_own(text)
    if is_class and not ownership.is_own_definition(text, "format"):
        raise Refusal("format() is called on a text", "Use an f-string.")
    if not is_class and not is_own(type(text)):
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
        if issubclass(kind, ModuleType | memoryview | super):
            raise Refusal("This class is private to Python", "Use isinstance().")
        return safe_variants.SafeArray if issubclass(kind, np.ndarray) else kind

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, type)


Type = _Type("type", (), {"__module__": "builtins"})
"""``type`` with a single argument, and as an argument of `isinstance`."""


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
    "getattr": guarded_getattr,
    "setattr": guarded_setattr,
    "delattr": guarded_delattr,
    "hasattr": guarded_hasattr,
    "exit": safe_variants.exit_program,
    "quit": safe_variants.exit_program,
    rewrite.IMPORT: modules.import_module,
    rewrite.IMPORT_FROM: modules.import_from,
    rewrite.GET: guarded_getattr,
    rewrite.WRITE: check_write,
    rewrite.AUGMENT: check_augmented_write,
    rewrite.FORMAT: guarded_format,
    rewrite.HIDE_DUNDERS: hide_dunders,
    rewrite.SUPER: guarded_super,
    rewrite.INIT: guarded_init,
}
"""Replacements for Python's builtin functions."""


def builtin_names() -> dict[str, object]:
    """Return the contents of ``__builtins__``.

    NumPy and torch import through the builtins of their caller; so names that begin with two
    underscores are Python's own. No program can refer to them.
    """
    own = {name: thing for name, thing in vars(builtins).items() if name.startswith("__")}
    return {**own, **BUILTINS, "__build_class__": guarded_build_class}
