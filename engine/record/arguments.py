"""What a torch function was given and what it returned: tensors, and words for the rest."""

from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, FunctionType

import torch
from msgspec import Struct
from torch.nn import Parameter
from torch.nn.parameter import is_lazy

from engine.errors import LONGEST_NAME, name_of
from engine.record.log import ValueRow
from engine.tape import Arg
from engine.untouched import keep_builtins

keep_builtins(globals())

_PLAIN = frozenset((int, float, bool, str, type(None), torch.dtype, torch.device, torch.Size))
"""Types that hold no tensor and never change, so that words can be found for them later."""
_NUMBERS = (int, float)
_TOLD = _PLAIN | {complex, slice, tuple, list}
"""Types whose ``repr`` tells them."""


class Given(Struct, gc=False, eq=False):
    """A call before it is written down."""

    tensors: list[torch.Tensor]
    """Those among its arguments."""
    values: list[ValueRow]
    """Theirs, when it was made."""
    args: list[object]
    """All its arguments, as in `OpRow.args`."""
    since: int = 0
    """The sequence number of the first backward node that the call could make."""
    took: int = 0
    """Nanoseconds that the call itself took."""


def tensors_given(args: tuple[object, ...], kwargs: dict[str, object]) -> list[torch.Tensor]:
    """Return the tensors among a call's arguments; one given as ``out=`` is a result."""
    found: list[torch.Tensor] = []
    for one in args:
        kind = type(one)
        if kind is torch.Tensor or kind is Parameter:
            found.append(one)  # type: ignore[arg-type]
        elif kind not in _PLAIN:
            found.extend(_tensors(one))
    for keyword, one in kwargs.items():
        if type(one) not in _PLAIN and keyword != "out":
            found.extend(_tensors(one))
    return found


def tensors_in(out: object) -> list[torch.Tensor]:
    """Return the tensors of a call's result."""
    return [out] if type(out) is torch.Tensor else list(_tensors(out))


def _tensors(thing: object, depth: int = 0) -> Iterator[torch.Tensor]:
    """Yield the tensors in nested tuples, lists and dicts, but no parameter without a shape yet."""
    if isinstance(thing, torch.Tensor):
        if not is_lazy(thing):
            yield thing
    elif depth < 6:
        if isinstance(thing, tuple | list):
            for one in thing:
                yield from _tensors(one, depth + 1)
        elif isinstance(thing, dict):
            for one in thing.values():
                yield from _tensors(one, depth + 1)


def everyday(
    args: tuple[object, ...],
    kwargs: dict[str, object],
    seen: dict[int, ValueRow],
    meet: Callable[[torch.Tensor], ValueRow] | None = None,
) -> Given | None:
    """Return what a call was given if it is like most: plain tensors that are known, and literals.

    ``seen`` has the last value of each tensor by its ``id()``. None where a tensor is of a class of
    its own, and where something else could hold tensors. ``meet`` writes down one that is new or
    was changed since; without it the answer is None then, too.
    """
    given: list[torch.Tensor] = []
    values: list[ValueRow] = []
    kept: list[object] = []
    try:
        for one in args:
            kind = type(one)
            if kind is torch.Tensor or kind is Parameter:
                row = seen.get(id(one))
                if row is None or row.ref() is not one or row.version != one._version:  # type: ignore[union-attr]
                    if meet is None:
                        return None
                    row = meet(one)  # type: ignore[arg-type]
                given.append(one)  # type: ignore[arg-type]
                values.append(row)
                kept.append(row)
            elif kind in _PLAIN:
                kept.append(one)
            else:
                return None
    except RuntimeError:
        # An inference tensor has no version.
        return None
    if kwargs:
        if any(type(one) not in _PLAIN for one in kwargs.values()):
            return None
        kept += kwargs.items()
    return Given(given, values, kept)


def kept_args(
    args: tuple[object, ...],
    kwargs: dict[str, object],
    given: list[torch.Tensor],
    values: list[ValueRow],
) -> list[object]:
    """Return a call's arguments as they are kept until the run is over; see `OpRow.args`.

    ``given`` are the tensors among them, ``values`` the values of those.
    """
    ids = {id(t): v.id for t, v in zip(given, values, strict=True)}
    told: list[object] = [arg for one in args for arg in _arg(one, "", ids)]
    named = ((key[:LONGEST_NAME], one) for key, one in kwargs.items())
    return [*told, *(arg for key, one in named for arg in _arg(one, key, ids))]


def told_args(kept: list[object]) -> list[Arg]:
    """Return arguments in words from what was kept of them."""
    result: list[Arg] = []
    for one in kept:
        if type(one) is ValueRow:
            result.append(Arg(one.id))
        elif type(one) is Arg:
            result.append(one)
        elif type(one) is tuple:
            result += _arg(one[1], one[0], {})
        else:
            result += _arg(one, "", {})
    return result


def _arg(one: object, keyword: str, ids: dict[int, int]) -> list[Arg]:
    if isinstance(one, _NUMBERS) and not isinstance(one, bool):
        number = float(one) if abs(one) < 2**1000 else None
        return [Arg(None, repr(one)[:80], number, "", keyword)]
    if isinstance(one, torch.Tensor):
        return [Arg(ids.get(id(one)), keyword=keyword)]
    if isinstance(one, bool | complex) or one is None or isinstance(one, str | slice):
        return [Arg(text=repr(one)[:80], keyword=keyword)]
    if isinstance(one, tuple | list):
        if any(isinstance(x, torch.Tensor) for x in one):
            return [arg for x in one for arg in _arg(x, keyword, ids)]
        text = ", ".join(_word(x) for x in tuple(one)[:12])
        return [Arg(text=f"({text})"[:80], keyword=keyword)]
    return [Arg(text=_plain(one)[:80], keyword=keyword)]


def _word(one: object) -> str:
    if one is Ellipsis:
        return "…"
    return repr(one) if type(one) in _TOLD else _plain(one)


def _plain(one: object) -> str:
    if isinstance(one, torch.dtype | torch.device | torch.layout | torch.memory_format):
        return str(one).removeprefix("torch.")
    # What else there is may be the program's own: to be asked for anything could make it act.
    if isinstance(one, FunctionType | BuiltinFunctionType):
        return one.__name__
    return name_of(one if isinstance(one, type) else type(one))
