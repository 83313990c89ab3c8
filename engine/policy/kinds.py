"""Which classes, functions and names are the program's own, and which belong to a library."""

import typing
from collections.abc import Iterable, Iterator
from functools import cache
from types import CodeType, FunctionType, GenericAlias, MethodType

from torch._functorch.autograd_function import WrappedCtx

from engine.policy import words

MAIN = "__main__"
ALIAS: type = getattr(typing, "_BaseGenericAlias")  # noqa: B009
"""What ``Dataset[int]`` and ``Annotated[int, 1]`` are."""
PASSING = (GenericAlias, ALIAS, WrappedCtx)
"""Classes whose objects pass on what they are asked for to another object."""


def kind_of(owner: object) -> type:
    """Return the class whose names an object has; of a class, itself."""
    return owner if isinstance(owner, type) else type(owner)


def behind(owner: object) -> object:
    """Return what answers for an attribute of ``owner``: itself, or what it passes that on to."""
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


def is_own(made: object) -> bool:
    """Whether a class or a function was made by the program."""
    if isinstance(made, type):
        return bool(type.__dict__["__module__"].__get__(made) == MAIN)
    # Not by its `__module__`: what wraps an object takes on that of the object, and its dict.
    while type(made) is FunctionType:
        if made.__globals__.get("__name__") == MAIN:
            return True
        made = vars(made).get("__wrapped__")
    return False


def is_open(owner: object, name: str) -> bool:
    """Whether a private attribute is the program's own, or tells nothing that must be kept."""
    if name in words.HARMLESS or name.startswith(words.SAVED):
        return True
    if isinstance(owner, FunctionType):
        return is_own(owner)
    return is_of_own(owner, name)


def is_of_own(owner: object, name: str) -> bool:
    """Whether an object is of a class of the program's own, and no other class uses the name."""
    own = False
    for kind in _above(kind_of(owner)):
        if is_own(kind):
            own = True
        elif name in vars(kind) or (name.startswith("_") and name in _used(kind)):
            return False
    return own


def is_defined(owner: object, name: str) -> bool:
    """Whether a class of the program's own says what ``name`` is, before any other does."""
    says = (kind for kind in _above(kind_of(owner)) if name in vars(kind))
    return (first := next(says, None)) is not None and is_own(first)


def where_from(method: object, name: str) -> type | None:
    """Return the class that gives an object the bound ``method``; None where that is not known."""
    if type(method) is not MethodType:
        return None
    for kind in _above(kind_of(method.__self__)):
        if vars(kind).get(name) is method.__func__:
            return kind
    return None


def is_class(owner: object) -> bool:
    """Whether the methods of ``owner`` take any object: it is a class, or ``super`` of one."""
    if type(owner) is super:
        return isinstance(super.__self__.__get__(owner), type)  # type: ignore[attr-defined]
    return isinstance(owner, type)


def misled(names: Iterable[str], above: Iterable[type]) -> str | None:
    """Return a private name of a library's class that a class of the program's own gives anew.

    ``names`` stand in the class, the classes ``above`` are its bases and theirs. The library's
    methods would take the program's word for what is theirs.
    """
    kinds = tuple(above)
    theirs = [one for one in kinds if not is_own(one)]
    given = [{*vars(own), *vars(own).get("__annotations__", ())} for own in kinds if is_own(own)]
    for name in {*names}.union(*given):
        if name in words.OVERRIDDEN or name[:1] != "_" or name[:2] == "__":
            continue
        if any(name in vars(one) or name in _used(one) for one in theirs):
            return str(name)
    return None


def led_astray(kind: type, above: Iterable[type]) -> str | None:
    """Return a name that patterns read by position, maybe of what is not the program's own.

    ``kind`` is the metaclass of a class whose bases and theirs are ``above``.
    """
    kinds = tuple(above)
    theirs = [one for one in kinds if not is_own(one) and one is not tuple]
    for name in {name for one in kinds for name in vars(one).get("__match_args__", ())}:
        looked_at = name in words.ATTRIBUTES or name in words.GUARDED
        # What has another metaclass may count strange objects among its own.
        if looked_at and (kind is not type or any(name in vars(one) for one in theirs)):
            return str(name)
    return None


def beneath(kind: type) -> Iterator[type]:
    """Yield the classes that inherit from ``kind``."""
    below: list[type] = type.__subclasses__(kind)
    for one in below:
        yield one
        yield from beneath(one)


def is_beneath(owner: object, of: type) -> bool:
    """Whether ``owner`` is a class that has what ``of`` has, or ``super`` of such an object."""
    if type(owner) is super:
        owner = super.__self__.__get__(owner)  # type: ignore[attr-defined]
        if isinstance(owner, of):
            return True
    return isinstance(owner, type) and of in _above(owner)


def above(bases: Iterable[type]) -> tuple[type, ...]:
    """Return some classes and those that they inherit from."""
    return tuple(dict.fromkeys(kind for base in bases for kind in _above(base)))


def _above(kind: type) -> tuple[type, ...]:
    found: tuple[type, ...] = type.__dict__["__mro__"].__get__(kind)
    return found


@cache
def _used(kind: type) -> frozenset[str]:
    """Return the private names that a library's class uses in its methods, of its objects too.

    An object of a class of the program's own that inherits from it could lead it astray by them.
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
