"""Distinguish the program's own classes, functions and names from those of libraries."""

import typing
from collections.abc import Iterable, Iterator
from functools import cache
from types import CodeType, FunctionType, GenericAlias, MethodType

from torch._functorch.autograd_function import WrappedCtx

from gradscribe.engine.sandbox.policy import allowlist

MAIN = "__main__"
ALIAS: type = getattr(typing, "_BaseGenericAlias")  # noqa: B009
"""Type of ``Dataset[int]`` and ``Annotated[int, 1]``."""
FORWARDING_TYPES = (GenericAlias, ALIAS, WrappedCtx)
"""Classes whose objects forward attribute access to another object."""


def class_of(owner: object) -> type:
    """Return the class of an object; a class itself."""
    return owner if isinstance(owner, type) else type(owner)


def unwrap(owner: object) -> object:
    """Return the object to which ``owner`` forwards attribute access, else ``owner`` itself."""
    while True:
        if issubclass(type(owner), (GenericAlias, ALIAS)):
            inner = getattr(owner, "__origin__", owner)
        elif type(owner) is MethodType:
            inner = owner.__func__
        elif issubclass(type(owner), WrappedCtx):
            inner = vars(owner).get("_pt_inner_ctx", owner)
        else:
            return owner
        if inner is owner:
            return owner
        owner = inner


def is_own(thing: object) -> bool:
    """Return whether a class or a function was defined by the program."""
    if isinstance(thing, type):
        return bool(type.__dict__["__module__"].__get__(thing) == MAIN)
    # Not by its `__module__`: functools.wraps copies that of the wrapped object, and its dict.
    while type(thing) is FunctionType:
        if thing.__globals__.get("__name__") == MAIN:
            return True
        thing = vars(thing).get("__wrapped__")
    return False


def is_accessible(owner: object, name: str) -> bool:
    """Return whether a private attribute is the program's own, or harmless."""
    if name in allowlist.HARMLESS or name.startswith(allowlist.SAVED_PREFIX):
        return True
    if isinstance(owner, FunctionType):
        return is_own(owner)
    return is_own_attribute(owner, name)


def is_own_attribute(owner: object, name: str) -> bool:
    """Return whether an object's class is the program's, and no library base uses the name."""
    own = False
    for kind in _above(class_of(owner)):
        if is_own(kind):
            own = True
        elif name in vars(kind) or (name.startswith("_") and name in _used(kind)):
            return False
    return own


def is_own_definition(owner: object, name: str) -> bool:
    """Return whether the first class in the MRO that defines ``name`` is the program's own."""
    says = (kind for kind in _above(class_of(owner)) if name in vars(kind))
    return (first := next(says, None)) is not None and is_own(first)


def defining_class(method: object, name: str) -> type | None:
    """Return the class that defines the bound ``method``; None if it is unknown."""
    if type(method) is not MethodType:
        return None
    for kind in _above(class_of(method.__self__)):
        if vars(kind).get(name) is method.__func__:
            return kind
    return None


def is_unbound(owner: object) -> bool:
    """Return whether methods of ``owner`` are unbound: it is a class, or ``super`` of a class."""
    if type(owner) is super:
        return isinstance(super.__self__.__get__(owner), type)  # type: ignore[attr-defined]
    return isinstance(owner, type)


def overridden_private_name(names: Iterable[str], above: Iterable[type]) -> str | None:
    """Return a private name of a library's class that a class of the program overrides, or None.

    ``names`` are defined in the class, the classes ``all_bases`` are its bases and theirs. The
    library's methods would trust the overriding attribute.
    """
    kinds = tuple(above)
    theirs = [cls for cls in kinds if not is_own(cls)]
    given = [{*vars(own), *vars(own).get("__annotations__", ())} for own in kinds if is_own(own)]
    for name in {*names}.union(*given):
        if name in allowlist.OVERRIDABLE or name[:1] != "_" or name[:2] == "__":
            continue
        if any(name in vars(cls) or name in _used(cls) for cls in theirs):
            return str(name)
    return None


def unsafe_match_arg(kind: type, above: Iterable[type]) -> str | None:
    """Return a guarded name in ``__match_args__`` that might be read from foreign objects, or None.

    ``kind`` is the metaclass of a class whose bases and theirs are ``all_bases``.
    """
    kinds = tuple(above)
    theirs = [cls for cls in kinds if not is_own(cls) and cls is not tuple]
    for name in {name for cls in kinds for name in vars(cls).get("__match_args__", ())}:
        looked_at = name in allowlist.ATTRIBUTES or name in allowlist.GUARDED
        # Another metaclass may accept foreign objects as instances.
        if looked_at and (kind is not type or any(name in vars(cls) for cls in theirs)):
            return str(name)
    return None


def all_subclasses(kind: type) -> Iterator[type]:
    """Yield all direct and indirect subclasses of ``kind``."""
    below: list[type] = type.__subclasses__(kind)
    for cls in below:
        yield cls
        yield from all_subclasses(cls)


def inherits_from(owner: object, of: type) -> bool:
    """Return whether ``owner`` is a subclass of ``of``, or ``super`` of such a class or object."""
    if type(owner) is super:
        owner = super.__self__.__get__(owner)  # type: ignore[attr-defined]
        if isinstance(owner, of):
            return True
    return isinstance(owner, type) and of in _above(owner)


def all_bases(bases: Iterable[type]) -> tuple[type, ...]:
    """Return some classes with all their base classes, without duplicates."""
    return tuple(dict.fromkeys(kind for base in bases for kind in _above(base)))


def _above(kind: type) -> tuple[type, ...]:
    found: tuple[type, ...] = type.__dict__["__mro__"].__get__(kind)
    return found


@cache
def _used(kind: type) -> frozenset[str]:
    """Return the private names that the methods of a library's class use.

    A subclass in the program could subvert these methods by defining such names.
    """
    codes = [found.__code__ for found in _functions(kind)]
    names: set[str] = set()
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        names.update(text for text in code.co_consts if isinstance(text, str))
        codes += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
    return frozenset(name for name in names if name.startswith("_"))


def _functions(kind: type) -> Iterator[FunctionType]:
    for found in vars(kind).values():
        of = found
        if isinstance(found, property):
            of = found.fget
            if isinstance(found.fset, FunctionType):
                yield found.fset
        elif isinstance(found, staticmethod | classmethod):
            of = found.__func__
        while isinstance(of, FunctionType):
            yield of
            of = vars(of).get("__wrapped__")
