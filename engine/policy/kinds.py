"""Which classes, functions and names are the program's own, and which belong to a library."""

from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType

from torch import nn

from engine.policy import words

MAIN = "__main__"


def kind_of(owner: object) -> type:
    """Return the class whose names an object has; of a class, itself."""
    return owner if isinstance(owner, type) else type(owner)


def is_own(made: object) -> bool:
    """Whether a class or a function was made by the program."""
    if isinstance(made, type):
        return bool(type.__dict__["__module__"].__get__(made) == MAIN)
    return getattr(made, "__module__", "") == MAIN


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
    """Whether a class of the program's own says what ``name`` is."""
    return any(is_own(kind) and name in vars(kind) for kind in _above(kind_of(owner)))


def is_class(owner: object) -> bool:
    """Whether the methods of ``owner`` take any object: it is a class, or ``super`` of one."""
    if type(owner) is super:
        return isinstance(super.__self__.__get__(owner), type)  # type: ignore[attr-defined]
    return isinstance(owner, type)


class _Closed:
    """An attribute that is not there, whatever an object's own dict says."""

    def __get__(self, one: object, owner: type | None = None) -> object:
        raise AttributeError("closed by the policy")

    def __set__(self, one: object, value: object) -> None:
        raise AttributeError("closed by the policy")


def close(made: type) -> None:
    """Keep the objects of a new class from telling NumPy and torch of an address."""
    if getattr(made, "_is_protocol", False):
        # It would count them among what it asks for; it has no objects.
        return
    for name in ("__array_interface__", "__array_struct__", "__cuda_array_interface__"):
        if not hasattr(made, name):
            type.__setattr__(made, name, _Closed())


def is_beneath(owner: object, of: type) -> bool:
    """Whether ``owner`` is a class that has what ``of`` has, or ``super`` of such an object."""
    if type(owner) is super:
        return isinstance(super.__self__.__get__(owner), of)  # type: ignore[attr-defined]
    return isinstance(owner, type) and of in _above(owner)


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
        if isinstance(of, FunctionType):
            yield of


def _quiet() -> None:
    """Let no module answer for names that Python, NumPy and copying ask for.

    A part may be called anything. Called ``__array_interface__`` or ``__deepcopy__``, it would tell
    NumPy where to read, or copying what to make; and no part has such a name for a good reason.
    """
    ask = nn.Module.__getattr__

    def answer(self: nn.Module, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return ask(self, name)

    nn.Module.__getattr__ = answer  # type: ignore[method-assign, assignment]


_quiet()
